"""Densities and the Gaussians in their place: curves of one variable, contours of two."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import legend_of
from experiments.drawing.clusters import grid, spare
from experiments.studies.approximation.density_approximation import TARGETS, DensityApproximation

NAMES = {"gamma": ("gamma", "y"), "coin": ("beta", "r")}  # of the density, and of its variable
METHODS = {"laplace": "Laplace", "moments": "same mean and variance"}
LEVELS = [-8.0, -4.5, -2.0, -0.5]  # below the mode: 4, 3, 2, 1 standard deviations


def draw(study: DensityApproximation, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if len(outcome.axes["variable"]) == 1:
        yield "densities", _curves(study, outcome)
    else:
        yield "posterior", _contours(study, outcome)


def _curves(study: DensityApproximation, outcome: Outcome) -> Figure:
    density, cases = outcome["log_density"], outcome.axes["case"].values
    name, variable = NAMES[study.target]
    columns = min(len(cases), 2 if len(cases) < 5 else 3)
    figure, axes = grid(-(-len(cases) // columns), columns, 0.8)
    for ax, case, values in zip(axes.flat, cases, study.parameters, strict=False):
        x = outcome["place"].at(case=case, variable=1).values
        ax.plot(x, np.exp(density.at(case=case, way="exact").values), color="C0", label=name)
        for k, method in enumerate(study.methods, start=1):
            curve = np.exp(density.at(case=case, way=method).values)
            ax.plot(x, curve, "--", color=f"C{k}", label=METHODS[method])
        stated = [f"{n} = {v:g}" for n, v in zip(TARGETS[study.target], values, strict=True)]
        ax.set_title("\n".join(", ".join(stated[i : i + 2]) for i in range(0, len(stated), 2)))
        ax.set_ylim(0, None)
    spare(axes.flat[len(cases) :])
    for ax in axes[-1]:
        ax.set_xlabel(variable)
    for ax in axes[:, 0]:
        ax.set_ylabel("density")
    legend_of(figure, axes[0, 0], 2)
    return figure


def _contours(study: DensityApproximation, outcome: Outcome) -> Figure:
    """The first target and the first method."""
    case, method = outcome.axes["case"].values[0], study.methods[0]
    w1, w2 = outcome["place"].at(case=case).values
    q, p = (outcome["log_density"].at(case=case, way=way).values.T for way in (method, "exact"))
    centre = outcome["centre"].at(case=case, way=method).values
    figure, axes = grid(1, 2, 0.95, sharex=True, sharey=True)
    for ax in axes[0]:
        ax.contour(w1, w2, q - q.max(), levels=LEVELS, colors="C0", linestyles="solid")
        ax.plot(*centre, "+", color="black", markersize=9)
        ax.set(xlabel="$w_1$")
    axes[0, 1].contour(w1, w2, p - p.max(), levels=LEVELS, colors="C1", linestyles="dashed")
    axes[0, 0].set(ylabel="$w_2$", title=f"{METHODS[method]} approximation")
    axes[0, 1].set_title("with the unnormalised posterior")
    for label, look in ((METHODS[method], "C0"), ("posterior", "C1--")):
        axes[0, 1].plot([], [], look, label=label)
    axes[0, 1].plot([], [], "+", color="black", label="mode")
    figure.legend(loc="outside lower center", ncols=3)
    return figure
