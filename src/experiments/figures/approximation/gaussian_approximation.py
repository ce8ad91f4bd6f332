"""A density and its Gaussian approximations: curves in one variable, contours in two."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend
from bythebook.experiments.plotting.clustering import panel_grid
from bythebook.experiments.plotting.densities import gaussian_curve
from bythebook.experiments.plotting.ellipses import ellipse
from bythebook.experiments.studies.approximation.gaussian_approximation import (
    DIMENSIONS,
    GaussianApproximation,
)

NAMES = {"laplace": "Laplace", "variational": "smallest KL(q||p)", "inclusive": "smallest KL(p||q)"}
LOOKS = {"laplace": ("C3", "-."), "variational": ("C2", "--"), "inclusive": ("C0", ":")}


def draw(study: GaussianApproximation, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if DIMENSIONS[study.densities[0]] == 1:
        yield "densities", _curves(study, outcome)
    else:
        yield "contours", _contours(study, outcome)


def _curves(study: GaussianApproximation, outcome: Outcome) -> Figure:
    name = study.densities[0]
    figure, (left, right) = _row(panel_grid(1, 2, 0.9))
    z = outcome["place"].sel(density=name).values[:, 0]
    seen = (z > -2) & (z < 4)
    log_p = outcome["log_density"].sel(density=name).values
    left.plot(z[seen], np.exp(log_p[seen]), color="black", lw=2, label="density")
    right.plot(z[seen], -log_p[seen], color="black", lw=2)
    for way, (colour, line) in LOOKS.items():
        mean = float(outcome["centre"].sel(density=name, way=way).values[0, 0])
        sd = float(np.sqrt(outcome["covariance"].sel(density=name, way=way).values.ravel()[0]))
        curve = gaussian_curve(z[seen], mean, sd)
        left.plot(z[seen], curve, line, color=colour, label=NAMES[way])
        right.plot(z[seen], -np.log(curve), line, color=colour)
    left.set(xlabel="z", ylabel="density", ylim=(0, None))
    right.set(xlabel="z", ylabel="minus its logarithm", ylim=(0, 25))
    shared_legend(figure, left, 2)
    return figure


def _contours(study: GaussianApproximation, outcome: Outcome) -> Figure:
    figure, axes = panel_grid(len(study.densities), 2, 0.9, sharex="row", sharey="row")
    for (left, right), name in zip(axes, study.densities, strict=True):
        for ax in (left, right):
            _density(ax, outcome, name)
        _gaussian(left, outcome, name, "inclusive")
        one = {"density": name, "draw": 0}
        means = outcome["start_centre"].sel(**one).values
        shapes = outcome["start_covariance"].sel(**one).values
        for k, (mean, S) in enumerate(zip(means, shapes, strict=True)):
            label = f"{NAMES['variational']}, all starts" if k == 0 else None
            for sd in (1, 2):
                right.plot(*ellipse(mean, S, sd), "--", color="C2", lw=1.2, label=label)
                label = None
        left.set_ylabel(name)
    shared_legend(figure, axes[0, 0], 2)
    figure.legend(*axes[0, 1].get_legend_handles_labels(), loc="outside upper center")
    return figure


def _density(ax: Axes, outcome: Outcome, name: str) -> None:
    x, y = outcome["place"].sel(density=name).values.T
    side = round(len(x) ** 0.5)
    log_p = outcome["log_density"].sel(density=name).values.reshape(side, side)
    levels = log_p.max() - np.array([4.5, 2.0, 0.5])
    ax.contour(
        x.reshape(side, side), y.reshape(side, side), log_p, levels, colors="0.45", linewidths=1.2,
        linestyles="solid",
    )  # fmt: skip
    seen = log_p.ravel() > log_p.max() - 8
    for values, limit in ((x, ax.set_xlim), (y, ax.set_ylim)):
        room = 0.15 * np.ptp(values[seen])
        limit(values[seen].min() - room, values[seen].max() + room)


def _gaussian(ax: Axes, outcome: Outcome, name: str, way: str) -> None:
    at = {"density": name, "way": way, "draw": 0}
    mean, S = outcome["centre"].sel(**at).values, outcome["covariance"].sel(**at).values
    for sd in (1, 2):
        label = NAMES[way] if sd == 1 else None
        ax.plot(*ellipse(mean, S, sd), ":", color="C0", lw=2, label=label)


def _row(made: tuple[Figure, Any]) -> tuple[Figure, tuple[Axes, Axes]]:
    figure, axes = made
    return figure, (axes[0, 0], axes[0, 1])
