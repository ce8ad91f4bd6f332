"""Functions and expansions; densities and their Gaussians, as curves or contours."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.plotting.clustering import hide_unused, panel_grid
from bythebook.experiments.studies.approximation.local_approximation import (
    TARGETS,
    LocalApproximation,
)

VARIABLES = {"exp": "w", "sigmoid": "$w^T x$", "gamma": "y", "coin": "r"}
DASHES = ("--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
LEVELS = [-8.0, -4.5, -2.0, -0.5]  # below the mode: 4, 3, 2, 1 standard deviations


def draw(study: LocalApproximation, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if "function" in outcome:
        yield "function", _function(study, outcome)
    elif len(outcome.axes["variable"]) == 1:
        yield "densities", _densities(study, outcome)
    else:
        yield "posterior", _posterior(outcome)


def _function(study: LocalApproximation, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    w, f, name = outcome["function"].coord("w"), outcome["function"].values, VARIABLES[study.target]
    ax.plot(w, f, color="black", linewidth=2.2, label=study.target)
    for k, n in enumerate(study.orders):
        look = {"linestyle": DASHES[k % 5], "color": f"C{k % 8}", "label": f"order {n}"}
        ax.plot(w, outcome["expansion"].sel(order=n).values, **look)
    reach = np.ptp(f)
    ax.set(xlabel=name, ylabel=f"{study.target}({name})")
    ax.set_ylim(f.min() - reach / 6, f.max() + reach / 12)
    if study.orders:
        ax.legend(loc="upper left")
    return figure


def _densities(study: LocalApproximation, outcome: Outcome) -> Figure:
    density, cases = outcome["log_density"], outcome.axes["case"].values
    name = "beta" if study.target == "coin" else study.target
    columns = min(len(cases), 2 if len(cases) < 5 else 3)
    figure, axes = panel_grid(-(-len(cases) // columns), columns, 0.8)
    for ax, case, values in zip(axes.flat, cases, study.parameters, strict=False):
        x = outcome["place"].sel(case=case, variable=1).values
        p, q = np.exp(density.sel(case=case).values)
        ax.plot(x, p, color="C0", label=name)
        ax.plot(x, q, "--", color="C1", label="Laplace")
        stated = [f"{n} = {v:g}" for n, v in zip(TARGETS[study.target], values, strict=True)]
        ax.set_title("\n".join(", ".join(stated[i : i + 2]) for i in range(0, len(stated), 2)))
        ax.set_ylim(0, None)
    hide_unused(axes.flat[len(cases) :])
    for ax in axes[-1]:
        ax.set_xlabel(VARIABLES[study.target])
    for ax in axes[:, 0]:
        ax.set_ylabel("density")
    shared_legend(figure, axes[0, 0], 2)
    return figure


def _posterior(outcome: Outcome) -> Figure:
    """The first of the posteriors."""
    w1, w2 = outcome["place"].values[0]
    p, q = outcome["log_density"].values[0]
    figure, axes = panel_grid(1, 2, 0.95, sharex=True, sharey=True)
    wide = {"colors": "C0", "linewidths": 4.0, "linestyles": "solid"}  # seen below the other
    for ax in axes[0]:
        ax.contour(w1, w2, q.T - q.max(), levels=LEVELS, **wide)
        ax.plot(*outcome["centre"].values[0, 1], "+", color="black", markersize=9)
        ax.set(xlabel="$w_1$")
    thin = {"colors": "black", "linewidths": 1.2, "linestyles": "dashed"}
    axes[0, 1].contour(w1, w2, p.T - p.max(), levels=LEVELS, **thin)
    axes[0, 0].set(ylabel="$w_2$", title="Laplace approximation")
    axes[0, 1].set_title("with the unnormalised posterior")
    axes[0, 1].plot([], [], "C0", linewidth=4.0, label="Laplace")
    axes[0, 1].plot([], [], "k--", linewidth=1.2, label="posterior")
    axes[0, 1].plot([], [], "k+", label="mode")
    figure.legend(loc="outside lower center", ncols=3)
    return figure
