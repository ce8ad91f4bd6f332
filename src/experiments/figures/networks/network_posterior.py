"""Predictions with error bars or sampled curves; or the precision of each input's weights."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.networks.network_posterior import NetworkPosterior


def draw(study: NetworkPosterior, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    yield (
        ("predictions", _curves(study, outcome))
        if study.problem == "sine"
        else (
            "precisions",
            _precisions(outcome),
        )
    )


def _curves(study: NetworkPosterior, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    mean = outcome["predicted"].sel(repetition=0)
    x = mean.coord("x")
    bars = outcome["deviation"].sel(repetition=0).values
    ax.plot(x, np.sin(2 * np.pi * x), "--", color="C2", label="truth")
    if study.samples:
        ax.plot(x, outcome["sample"].values.T, ":", color="C0", lw=0.7)
        ax.plot([], [], ":", color="C0", label="samples")
        ax.plot(x, outcome["sampled_mean"].sel(repetition=0).values, color="C1", label="mean")
    else:
        ax.plot(x, mean.values, color="C1", label="mean")
        for sign in (1, -1):
            ax.plot(x, mean.values + sign * bars, ":", color="C0")
        ax.plot([], [], ":", color="C0", label="one standard deviation")
    points = outcome["inputs"].values[0], outcome["targets"].values[0]
    ax.plot(*points, "ko", ms=4, label="data")
    ax.set(xlabel="x", ylabel="y", ylim=(-3, 3))
    ax.legend()
    return figure


def _precisions(outcome: Outcome) -> Figure:
    figure, ax = subplots()
    alpha = outcome["alpha"]
    names = [str(name) for name in alpha.coord("group")]
    ax.semilogy(range(len(names)), alpha.values.T, color="0.7", lw=0.5)
    ax.semilogy(range(len(names)), np.median(alpha.values, axis=0), "ko-", label="median")
    ax.set_xticks(range(len(names)), names)
    ax.set(xlabel="group of weights", ylabel="precision alpha")
    ax.legend()
    return figure
