"""Chains on a target, autocorrelations, and the number of steps to an independent sample."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bythebook.experiments.plotting.ellipses import ellipse
from bythebook.experiments.plotting.marks import Panel, line, point, rule
from bythebook.models.sampling.targets import named

TIME = "max(median(at(time, direction='long'), over='repetition'), 0.1)"
ACCEPTED = "mean(acceptance, over='repetition')"


def chains(target: str, *kernels: str) -> Iterator[Panel]:
    """The first states of a chain of each kernel on a target, and autocorrelations there."""
    dimension = named(target).dimension
    at = f"at(path, target='{target}', coordinate={{}})"
    look: Any = {"by": "kernel", "only": kernels, "marker": ".", "ms": 3, "linewidth": 0.8}
    plane: Any = (
        {"x": at.format(1), "y": at.format(2)}
        if dimension > 1
        else {"y": at.format(1), "x": "state"}
    )
    yield Panel(
        line(**plane, **look, label="{}"),
        x="$z_1$" if dimension > 1 else "step",
        y="$z_2$" if dimension > 1 else "z",
        title=f"chains on {target}",
        finish=lambda ax, _: _contours(ax, target),
    )
    yield Panel(
        line(f"at(curve, target='{target}')", by="kernel", only=kernels, label="{}"),
        rule(0),
        x="lag (steps)",
        y="autocorrelation",
        title="slowest direction",
        ylimits=(-1.05, 1.05),
    )


def _contours(ax: Any, name: str) -> None:
    """One and two standard deviations of a Gaussian in the plane."""
    target = named(name)
    if len(target.deviations) == 2:
        covariance = (target.directions * target.deviations**2) @ target.directions.T
        for radius in (1.0, 2.0):
            ax.plot(*ellipse(np.zeros(2), covariance, radius), color="0.5", lw=1, zorder=0)


def times() -> Iterator[Panel]:
    """Autocorrelation times along the longest direction, and acceptance, by target."""
    yield Panel(
        line("target", x=TIME, by="kernel", marker="o", label="{}"),
        x="autocorrelation time (steps)",
        y="",
        xscale="log",
        share="y",
    )
    yield Panel(
        line("target", x=ACCEPTED, by="kernel", marker="o", label="{}"),
        x="share of steps accepted",
        y="",
        xlimits=(-0.03, 1.03),
    )


def far() -> Iterator[Panel]:
    """The test of the last states of chains that began far off, by target."""
    yield Panel(
        point("late_far_p", x="target", by="kernel", label="{}"),
        x="",
        y="p-value of the last states",
    )
