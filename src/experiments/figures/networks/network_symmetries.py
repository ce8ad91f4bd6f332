"""Restarts on one data set with their averages; losses of both kinds of average."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.networks.network_symmetries import NetworkSymmetries


def draw(study: NetworkSymmetries, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    fit = outcome["fit"]
    x = fit.coord("x")
    left.plot(x, fit.values.T, color="0.7", lw=0.6)
    left.plot(x, fit.values.mean(0), label="mean of the outputs")
    left.plot(x, outcome["of_mean_weights"].values, label="of the mean weights")
    left.plot(x, np.sin(np.pi * x), "k:", label="truth")
    left.set(xlabel="x", ylabel="output", ylim=(-2.5, 2.5))
    left.legend()
    outputs, weights = (outcome[f"averaged_{k}_loss"].values for k in ("outputs", "weights"))
    right.loglog(outputs, weights, "o")
    ends = [min(outputs.min(), weights.min()) / 1.5, max(outputs.max(), weights.max()) * 1.5]
    right.plot(ends, ends, color="0.6", lw=1)
    right.set(xlabel="squared error of the mean output", ylabel="of the mean weights")
    yield "restarts", figure
