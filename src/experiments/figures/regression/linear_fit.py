"""The data and the fitted curve: predictions, errors, a density, simulated data; lines."""

from collections.abc import Iterator

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.labels import axis_labels
from bythebook.experiments.studies.regression.linear_fit import LinearFit


def draw(study: LinearFit, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.show == "lines":
        figure, ax = subplots()
        (_family if study.data is None else _two_lines)(ax, study, outcome)
    else:
        figure = _one_fit(study, outcome)
    yield study.show, figure


def _one_fit(study: LinearFit, outcome: Outcome) -> Figure:
    names = axis_labels(study.data)
    x, t, fitted = (outcome[name].values for name in ("inputs", "targets", "fitted"))
    if study.show == "generated":
        figure, (ax, right) = subplots(1, 2, sharex=True, sharey=True)
        place = outcome["generated"].coord("generated_input")
        ax.plot(place, outcome["generated_from"].values)
        ax.plot(place, outcome["generated"].values, "o", color="C1")
        right.plot(x, fitted)
        right.plot(x, t, "o", color="black")
        ax.set_title(f"generated, noise variance {study.noise:g}")
        right.set(xlabel=names.x, title="data")
    else:
        figure, ax = subplots()
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
        grid = outcome["curve"].coord("x")
        ax.plot(grid, outcome["curve"].values, label=study.model.replace("_", " "))
        ax.plot(x[x >= grid[0]], t[x >= grid[0]], "o", color="black", label="data")
        if study.predict_at:
            predicted = outcome["prediction"].values
            ax.plot(study.predict_at, predicted, "D", color="C1", label="prediction")
        ax.legend()
    return figure


def _density(ax: Axes, study: LinearFit, outcome: Outcome) -> None:
    density, seen = outcome["density"], outcome["inputs"].values == study.predict_at[0]
    times, best = density.coord("target"), density.values.argmax()
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


def _family(ax: Axes, study: LinearFit, outcome: Outcome) -> None:
    ends, heights = outcome["prediction"].coord("input"), outcome["prediction"].values
    count = len(heights)
    for k, (w_0, w_1) in enumerate(outcome["w"].values):
        label = f"$w_0$ = {w_0:g}, $w_1$ = {w_1:g}" if k in (0, count // 2, count - 1) else None
        colour = colormaps["cividis"](0.9 * k / max(count - 1, 1))
        ax.plot(ends[[0, -1]], heights[k, [0, -1]], color=colour, label=label)
    ax.set(xlabel="x", ylabel="t = $w_0$ + $w_1$ x")
    ax.legend(loc="upper left")


def _two_lines(ax: Axes, study: LinearFit, outcome: Outcome) -> None:
    """Both lines through their data, extended to their intersection and to zero."""
    names, meet = axis_labels(study.data), outcome["crossing"].item
    sets, w = [study.data, study.other_data], [outcome[q].values for q in ("w", "other_w")]
    x, t = ([outcome[q].values, outcome[f"other_{q}"].values] for q in ("inputs", "targets"))
    grid = np.linspace(np.concatenate(x).min(), max(meet, *(-w_0 / w_1 for w_0, w_1 in w)), 400)
    for k, (w_0, w_1) in enumerate(w):
        label = str(sets[k]).replace("-", " ").capitalize()
        ax.plot(grid, w_0 + w_1 * grid, ("-", "--")[k], color=f"C{k}", label=label)
        ax.plot(x[k], t[k], "o^"[k], color=f"C{k}", markersize=3)
    height = w[0][0] + w[0][1] * meet
    ax.plot(meet, height, "D", color="black", label=f"the lines meet in {meet:.1f}")
    ax.set(xlabel=names.x, ylabel=names.t, ylim=(0, None))
    ax.legend()
