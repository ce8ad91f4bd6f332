"""Each data set with its line, and the contours of the likelihood of the weights."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.clusters import grid
from experiments.drawing.labels import axis_names
from experiments.studies.regression.likelihood_surface import LikelihoodSurface

LEVELS = [0.01, 0.1, 0.3, 0.5, 0.7, 0.9]


def draw(study: LikelihoodSurface, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    x, t, w_hat = (outcome[name].values for name in ("inputs", "targets", "w_hat"))
    origin, surface = outcome["origin"].item, outcome["likelihood"]
    x_name, t_name, line, w_0 = "x", "t", "true line", "$w_0$"
    if study.data is not None:
        x_name, t_name, line = *axis_names(study.data)[:2], "fitted line"
        w_0 = f"line at the mean input, {origin:.1f}"
    grids = surface.along("w_0"), surface.along("w_1")
    figure, axes = grid(len(t), 2, 0.68)
    for k, (left, right) in enumerate(axes):
        w = w_hat[k] if study.data is not None else np.array(study.weights)
        ends = x[[0, -1]]
        left.plot(x, t[k], "o", color="C0", markersize=3.5)
        left.plot(ends, w[0] + w[1] * (ends - origin), color="black", label=line)
        left.set(xlabel=x_name, ylabel=t_name)
        if study.data is None:
            left.set_title(f"noise variance {study.noise_variances[k]:g}")
        right.contour(*grids, surface.values[k].T, levels=LEVELS, linewidths=1.2)
        right.plot(*w_hat[k], "+", color="C1", markersize=9, label="maximum")
        right.set(xlabel=w_0, ylabel="$w_1$", title="likelihood over its maximum")
        left.legend()
        right.legend()
    yield "likelihood", figure
