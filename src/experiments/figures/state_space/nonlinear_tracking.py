"""Errors of position against the breadth of the prior, and against the beacons' distance."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def errors(quantity: str = "rmse") -> Iterator[Panel]:
    """The error of each filter in all settings."""
    yield Panel(
        line(quantity, x="setting", by="filter", marker="o", label="{} filter"),
        x="prior: beacons far; distance: prior narrow",
        ylimits=(0, None),
    )
