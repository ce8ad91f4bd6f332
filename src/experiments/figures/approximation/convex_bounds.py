"""Functions with their tangents; the sigmoid with a bound on either side."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure
from scipy.special import expit

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import merged_legend
from bythebook.experiments.plotting.clustering import column_panels, panel_grid
from bythebook.experiments.studies.approximation.convex_bounds import ConvexBounds


def draw(study: ConvexBounds, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if "gaussian_slack" in outcome:
        yield "sigmoid", _sigmoid(study, outcome)
    yield "tangents", _tangents(study, outcome)


def _tangents(study: ConvexBounds, outcome: Outcome) -> Figure:
    figure, axes = column_panels(len(study.functions), 3, 0.85)
    for ax, name in zip(axes, study.functions, strict=True):
        x = outcome["stretch"].sel(function=name).values
        f = outcome["function_value"].sel(function=name).values
        ax.plot(x, f, color="black", lw=2, label="function")
        bends = np.sign(np.median(outcome["curvature"].sel(function=name).values))
        for k, xi in enumerate(study.contacts):
            slack = outcome["slack"].sel(function=name, contact=xi).values
            ax.plot(x, f - bends * slack, color=f"C{k}", lw=1.2, label=f"touching at {xi:g}")
        room = 0.15 * np.ptp(f)
        ax.set(title=name, ylim=(f.min() - room, f.max() + room), xlabel="place")
    merged_legend(figure, axes, 3)
    return figure


def _sigmoid(study: ConvexBounds, outcome: Outcome) -> Figure:
    figure, axes = panel_grid(1, 2, 0.9, sharey=True)
    left, right = axes[0]
    x = outcome["gaussian_slack"].coord("x")
    near = np.abs(x) <= 6
    for ax in (left, right):
        ax.plot(x[near], expit(x[near]), color="black", lw=2, label="sigmoid")
        ax.set(xlabel="x", ylim=(0, 1.1))
    for k, slope in enumerate(study.slopes):
        above = expit(x) + outcome["exponential_slack"].sel(upper_slope=slope).values
        left.plot(x[near], above[near], "--", color=f"C{k}", label=f"exponential, slope {slope:g}")
    for k, xi in enumerate(study.contacts):
        gap = outcome["gaussian_slack"].sel(lambda_of="10.150", contact=xi).values
        right.plot(
            x[near], (expit(x) - gap)[near], color=f"C{k + 2}", label=f"Gaussian, ξ = {xi:g}"
        )
    merged_legend(figure, (left, right), 3)
    return figure
