"""Errors of position against the breadth of the prior, and against the beacons' distance."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.state_space.nonlinear_tracking import NonlinearTracking

LOOKS = {"extended": "--o", "iterated": "-.s", "unscented": "-^"}


def draw(study: NonlinearTracking, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    P, rmse = len(study.priors), outcome["rmse"]
    sides = {  # values, their rows, and their name
        "prior": (study.priors, list(range(P)), "standard deviation of the prior"),
        "distance": (study.distances, [0, *range(P, len(rmse))], "distance of the beacons"),
    }
    figure, axes = subplots(1, 2, sharey=True)
    for ax, (side, (values, rows, label)) in zip(axes, sides.items(), strict=True):
        for k, (name, look) in enumerate(LOOKS.items()):
            errors = rmse.sel(filter=name).values[rows]
            ax.plot(values, errors, look, color=f"C{k}", label=f"{name} filter")
        ax.set(xlabel=label, xscale="log")
        ax.set_xticks(values, [f"{value:g}" for value in values])
        ax.minorticks_off()
        hardest = f"{side} {values[-1]:g}"
        paths = outcome["path_squared_error"].sel(hard_setting=hardest, method="particles")
        error = np.sqrt(np.mean(paths.values) / study.steps)
        sampled = f"particles, {study.particle_series} walkers"
        ax.plot(values[-1], error, "*", color="C3", markersize=9, label=sampled)
    axes[0].set(ylabel="r.m.s. error of the position", ylim=(0, None))
    axes[1].invert_xaxis()
    axes[0].legend(loc="upper left")
    yield "errors", figure
