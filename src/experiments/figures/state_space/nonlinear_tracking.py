"""Errors of position against the breadth of the prior, and against the beacons' distance."""

from collections.abc import Iterator
from typing import Any

from bythebook.experiments.plotting.marks import Panel, line


def errors(quantity: str = "rmse") -> Iterator[Panel]:
    """The error of each filter in all settings."""
    yield Panel(
        line(quantity, x="setting", by="filter", marker="o", label="{} filter"),
        x="prior: beacons far; distance: prior narrow",
        ylimits=(0, None),
        finish=_turn,
    )


def _turn(ax: Any, outcome: Any) -> None:
    ax.tick_params(axis="x", rotation=45)
