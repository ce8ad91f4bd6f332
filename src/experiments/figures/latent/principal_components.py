"""Clusters before and after the projection; both directions of a cloud; accuracy against D."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.latent import cluster_points
from bythebook.experiments.plotting.marks import Panel, line, point

MEAN = "mean(accuracy, over='repetition')"


def projection() -> Iterator[Panel]:
    """Objects in the first two variables, the eigenvalues, and the first two projections."""
    for name, title in (
        ("points", "first two variables"),
        ("projections", "first two projections"),
    ):
        letter = name[1]
        yield Panel(
            *cluster_points(f"{name}['clusters', :, 1]", f"{name}['clusters', :, 2]"),
            x="y₁" if name == "points" else "x₁",
            y="y₂" if name == "points" else "x₂",
            title=title,
            columns=3,
        )
        if letter == "o":
            yield Panel(
                line("eigenvalues['clusters', 0]", x="component", marker="o"),
                x="projected dimension",
                y="variance",
                title="eigenvalues",
                ylimits=(0, None),
            )


def variances() -> Iterator[Panel]:
    """One Gaussian and two clusters, with the variance along both principal directions."""
    for name, title in (("cloud", "one Gaussian"), ("clusters", "clusters")):
        yield Panel(
            point(f"points['{name}', :, 2]", x=f"points['{name}', :, 1]", color="0.6"),
            x="y₁",
            y="y₂",
            title=title,
            finish=_Directions(name),
        )


def accuracy() -> Iterator[Panel]:
    """The share of objects classified correctly against the number of dimensions kept."""
    yield Panel(
        point("accuracy", x="dimensions", color="C0", alpha=0.15),
        line(MEAN, x="dimensions", color="C0"),
        x="projected dimensions D",
        y="share classified correctly",
    )


class _Directions:
    """The principal directions through the mean, as long as five standard deviations."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, ax: Axes, found: Outcome) -> None:
        Y, W = (found[what].sel(data=self.name).values for what in ("points", "directions"))
        values = found["eigenvalues"].sel(data=self.name, repetition=0).values
        for letter, value, w in zip("AB", values, W.T, strict=True):
            ends = Y.mean(axis=0) + np.outer([-2.5, 2.5], np.sqrt(value) * w)
            ax.plot(*ends.T, linewidth=2.5, label=f"{letter}: variance {value:.2f}")
        ax.set_aspect("equal", adjustable="datalim")
        ax.legend(loc="upper left")
