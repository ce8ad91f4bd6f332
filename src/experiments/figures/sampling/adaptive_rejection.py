"""Tangents above the log of a density, and the decreasing rate of rejections."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, point


def tangents() -> Iterator[Panel]:
    """The log of the first target under the tangents of one run, with few and with all points."""
    yield Panel(
        line("log_target", color="black", linewidth=2, label="ln p(z)"),
        line("log_envelope", by="grid_points", label="tangents at {} points"),
        x="z",
        y="log density",
        title="{targets[0]}",
        ylimits=("min(log_target)", None),
    )


def rejections() -> Iterator[Panel]:
    """The share of rejected candidates (points) and its probability (lines)."""
    yield Panel(
        line("mean(mean(rejection_probability, over='run'), over='repetition')", x="points",
             by="target", linewidth=1, label="{}"),
        point("mean(rejected, over='repetition')", x="points", by="target", label="{}"),
        x="grid points",
        y="share that is rejected",
        yscale="log",
    )  # fmt: skip
