"""The errors of a line, data that it generates beside those seen, or the density of one target."""

from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.labels import axis_names
from experiments.studies.regression.generative_line import GenerativeLine


def draw(study: GenerativeLine, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    names = axis_names(study.data)
    x, t, line = (outcome[name].values for name in ("inputs", "targets", "line"))
    if study.show == "generated":
        figure, (left, right) = panels(1, 2, sharex=True, sharey=True)
        generated = outcome["generated"]
        left.plot(generated.along("input"), outcome["generated_from"].values, label="line")
        left.plot(generated.along("input"), generated.values, "o", color="C1", label="generated")
        left.set(xlabel=names.x, ylabel=names.t)
        left.set_title(f"generated, noise variance {study.noise_variance:g}")
        right.plot(x, line)
        right.plot(x, t, "o", color="black")
        right.set(xlabel=names.x, title="data")
    else:
        figure, ax = panels()
        if study.show == "density":
            _density(ax, study, outcome)
            ax.set(xlabel=names.t, ylabel=f"p(t | x = {study.density_at:g})")
            ax.legend(loc="upper right")
        else:
            ax.vlines(x, line, t, color="C1", label="errors")
            ax.plot(x, line, label="line")
            ax.plot(x, t, "o", color="black", label="data")
            ax.set(xlabel=names.x, ylabel=names.t)
            ax.legend()
    yield study.show, figure


def _density(ax: Axes, study: GenerativeLine, outcome: Outcome) -> None:
    density = outcome["density"]
    times, best = density.along("target"), density.values.argmax()
    seen = list(outcome["inputs"].values).index(study.density_at)
    target, likelihood = outcome["targets"].values[seen], outcome["likelihood"].values[seen]
    ax.plot(times, density.values)
    for name, mark, value, height in (
        ("most likely", "s", times[best], density.values[best]),
        ("the target seen", "o", target, likelihood),
    ):
        ax.vlines(value, 0, height, color="0.6", linewidth=1, linestyle=":")
        ax.plot(value, height, mark, label=f"{name}, {value:.2f}: density {height:.3f}")
    ax.set_ylim(0, 1.25 * density.values.max())
