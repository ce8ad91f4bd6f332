"""Errors against operations, pass by pass, and all methods side by side."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend
from bythebook.experiments.plotting.clustering import panel_grid
from bythebook.experiments.studies.approximation.clutter_problem import (
    OPERATIONS,
    WAYS,
    ClutterProblem,
)

LOOKS = {"ep": ("C0", "-"), "variational": ("C2", "--"), "laplace": ("C3", "-.")}
NAMES = {"ep": "EP", "adf": "one pass", "variational": "variational", "laplace": "Laplace"}


def draw(study: ClutterProblem, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    yield "accuracy", _against_operations(study, outcome)
    yield "ways", _side_by_side(study, outcome)


def _against_operations(study: ClutterProblem, outcome: Outcome) -> Figure:
    figure, axes = panel_grid(len(study.points), 2, 0.75)
    for row, N in zip(axes, study.points, strict=True):
        for ax, name, course in zip(
            row, ("centre", "log_evidence"), ("centre_course", "evidence_course"), strict=True
        ):
            truth = outcome[name].sel(points=N, way="exact").values[:, None]
            for climb in OPERATIONS:
                cost = outcome["operations"].sel(climb=climb, points=N).item
                off = np.abs(outcome[course].sel(points=N, climb=climb).values - truth)
                middle = np.maximum(np.nanmedian(off, axis=0), 1e-16)
                colour, line = LOOKS[climb]
                steps = cost * np.arange(1, study.passes + 1)
                ax.loglog(steps, middle, line, color=colour, label=NAMES[climb])
            what = "posterior mean" if name == "centre" else "log evidence"
            ax.set(ylabel=f"error of the {what}", title=f"{N} points")
    for ax in axes[-1]:
        ax.set_xlabel("operations")
    shared_legend(figure, axes[0, 0], 3)
    return figure


def _side_by_side(study: ClutterProblem, outcome: Outcome) -> Figure:
    figure, axes = panel_grid(
        1, len(study.points), 0.9 if len(study.points) > 1 else 0.6, sharey=True
    )
    shown = WAYS[1:]
    for ax, N in zip(axes[0], study.points, strict=True):
        off = [outcome["total_variation"].sel(points=N, way=way).values for way in shown]
        ax.boxplot(off, orientation="vertical", widths=0.6, medianprops={"color": "C3"})
        ax.set_xticks(range(1, len(shown) + 1), [NAMES.get(way, way) for way in shown], rotation=60)
        ax.set(title=f"{N} points", yscale="log")
    axes[0, 0].set_ylabel("total variation from the posterior")
    return figure
