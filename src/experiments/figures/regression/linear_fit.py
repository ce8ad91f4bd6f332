"""The data and the curve fitted to them: predictions, errors, a density, data that it makes."""

from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.labels import axis_names
from experiments.studies.regression.linear_fit import LinearFit


def draw(study: LinearFit, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    names = axis_names(study.data)
    x, t, fitted = (outcome[name].values for name in ("inputs", "targets", "fitted"))
    if study.show == "generated":
        figure, (ax, right) = panels(1, 2, sharex=True, sharey=True)
        place = outcome["generated"].along("generated_input")
        ax.plot(place, outcome["generated_from"].values)
        ax.plot(place, outcome["generated"].values, "o", color="C1")
        right.plot(x, fitted)
        right.plot(x, t, "o", color="black")
        ax.set_title(f"generated, noise variance {study.noise:g}")
        right.set(xlabel=names.x, title="data")
    else:
        figure, ax = panels()
    ax.set(xlabel=names.x, ylabel=names.t)
    if study.show == "data":
        ax.plot(x, t, "o")
    elif study.show == "errors":
        ax.vlines(x, fitted, t, color="C1", label="errors")
        ax.plot(x, fitted, label="line")
        ax.plot(x, t, "o", color="black", label="data")
        ax.legend()
    elif study.show == "density":
        _density(ax, study, outcome)
        ax.set(xlabel=names.t, ylabel=f"p(t | x = {study.predict_at[0]:g})")
    elif study.show == "fit":
        grid = outcome["curve"].along("x")
        ax.plot(grid, outcome["curve"].values, label=study.model.replace("_", " "))
        ax.plot(x[x >= grid[0]], t[x >= grid[0]], "o", color="black", label="data")
        if study.predict_at:
            predicted = outcome["prediction"].values
            ax.plot(study.predict_at, predicted, "D", color="C1", label="prediction")
        ax.legend()
    yield study.show, figure


def _density(ax: Axes, study: LinearFit, outcome: Outcome) -> None:
    density, seen = outcome["density"], outcome["inputs"].values == study.predict_at[0]
    times, best = density.along("target"), density.values.argmax()
    (target, *_), (likelihood, *_) = (outcome[q].values[seen] for q in ("targets", "likelihood"))
    ax.plot(times, density.values)
    for name, mark, value, height in (
        ("most likely", "s", times[best], density.values[best]),
        ("the target seen", "o", target, likelihood),
    ):
        ax.vlines(value, 0, height, color="0.6", linewidth=1, linestyle=":")
        ax.plot(value, height, mark, label=f"{name}, {value:.2f}: density {height:.3f}")
    ax.set_ylim(0, 1.25 * density.values.max())
    ax.legend(loc="upper right")
