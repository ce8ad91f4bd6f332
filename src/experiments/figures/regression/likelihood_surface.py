"""Data with their line, and the likelihood of the weights or the line that favours some points."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.clustering import panel_grid
from bythebook.experiments.plotting.labels import axis_labels
from bythebook.experiments.studies.regression.likelihood_surface import LikelihoodSurface

LEVELS = [0.01, 0.1, 0.3, 0.5, 0.7, 0.9]


def draw(study: LikelihoodSurface, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    yield study.show, (_lines if study.show == "lines" else _likelihood)(study, outcome)


def _likelihood(study: LikelihoodSurface, outcome: Outcome) -> Figure:
    x, t, w_hat = (outcome[name].values for name in ("inputs", "targets", "w_hat"))
    origin, surface, ends = outcome["origin"].item, outcome["likelihood"], x[[0, -1]]
    names, fitted = axis_labels(study.data), study.data is not None
    w_0 = f"line at the mean input, {origin:.1f}" if fitted else "$w_0$"
    figure, axes = panel_grid(len(t), 2, 0.68)
    for k, (left, right) in enumerate(axes):
        w = w_hat[k] if fitted else np.array(study.weights)
        left.plot(x, t[k], "o", color="C0", markersize=3.5)
        line = "fitted line" if fitted else "true line"
        left.plot(ends, w[0] + w[1] * (ends - origin), color="black", label=line)
        left.set(xlabel=names.x, ylabel=names.t)
        if not fitted:
            left.set_title(f"noise variance {study.noise_variances[k]:g}")
        grids = surface.coord("w_0"), surface.coord("w_1")
        right.contour(*grids, surface.values[k].T, levels=LEVELS, linewidths=1.2)
        right.plot(*w_hat[k], "+", color="C1", markersize=9, label="maximum")
        right.set(xlabel=w_0, ylabel="$w_1$", title="likelihood over its maximum")
        left.legend()
        right.legend()
    return figure


def _lines(study: LikelihoodSurface, outcome: Outcome) -> Figure:
    names, w = axis_labels(study.data), outcome["w"].values
    x, t = outcome["inputs"].values, outcome["targets"].values[0]
    places = np.linspace(x.min(), x.max(), 50)
    plain, weighted = w[:, :1] + w[:, 1:] * places
    figure, ax = subplots()
    ax.plot(places, plain, label="least squares")
    ax.plot(x, t, "o", color="black", label="data")
    if study.favour != 1:
        label = f"weight {study.favour:g} for the circled"
        ax.plot(places, weighted, "--", color="C1", label=label)
        ring = {"markersize": 11, "markerfacecolor": "none", "markeredgecolor": "C1"}
        ax.plot(x[: study.favoured], t[: study.favoured], "o", **ring)
    ax.set(xlabel=names.x, ylabel=names.t)
    ax.legend()
    return figure
