"""Errors of each approximate posterior, and its predictions."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.clustering import panel_grid
from bythebook.experiments.studies.approximation.bayesian_logistic import WAYS, BayesianLogistic

NAMES = {"laplace": "Laplace", "variational": "variational", "ep": "EP", "plug-in": "mode alone"}
LOOKS = {"laplace": "C3-.", "variational": "C2--", "ep": "C0-", "plug-in": "k:"}


def draw(study: BayesianLogistic, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = panel_grid(1, 3, 1.0)
    sizes = np.arange(len(study.points))
    for ax, name, what in zip(
        axes[0, :2],
        ("total_variation", "centre_error"),
        ("total variation", "error of the mean"),
        strict=True,
    ):
        for way in WAYS[1:]:
            middle = np.median(outcome[name].sel(way=way).values, axis=-1)
            ax.semilogy(sizes, middle, LOOKS[way], marker="o", label=NAMES[way])
        ax.set_xticks(sizes, [str(n) for n in study.points])
        ax.set(xlabel="points", ylabel=f"{what}, median")
    N = study.points[0]
    truth = outcome["predicted"].sel(predictor="exact", points=N).values
    for way, look in LOOKS.items():
        off = np.abs(outcome["predicted"].sel(predictor=way, points=N).values - truth)
        x = outcome["predicted"].coord("input")
        axes[0, 2].semilogy(x, np.median(off, axis=0), look, label=NAMES[way])
    axes[0, 2].set(xlabel="input", ylabel=f"error of a prediction, {N} points")
    handles, labels = axes[0, 2].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    yield "accuracy", figure
