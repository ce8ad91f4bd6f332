"""The regions of nearest neighbours, and their cross-validation error against K."""

from collections.abc import Iterator
from typing import Any

from bythebook.experiments.plotting.marks import Mark, Panel, band, contour, line, point

ERROR = "100 * cross_validation_error"


def _points(labels: tuple[str, str] = ("class 0", "class 1")) -> list[Mark]:
    looks: list[dict[str, Any]] = [{"marker": "o", "color": "C0"}, {"marker": "^", "color": "C1"}]
    return [
        point(
            "inputs[:, 2]",
            x="inputs[:, 1]",
            where=where,
            ms=4,
            label=label,
            **look,
        )
        for label, look, where in zip(labels, looks, ("label == 0", "label == 1"), strict=True)
    ]


def points() -> Iterator[Panel]:
    """The first set of points."""
    yield Panel(*_points(), x="$x_1$", y="$x_2$")


def regions() -> Iterator[Panel]:
    """The boundary in the first set of points, for each K."""
    yield Panel(
        contour("1 * region[:, 'none']", levels=[0.5], colors="0.15"),
        *_points(),
        facet="k",
        title="K = {}",
        x="$x_1$",
        y="$x_2$",
        share="xy",
    )


def kernels() -> Iterator[Panel]:
    """The boundary for each kernel."""
    yield Panel(
        contour("1 * first(region, over='k')", levels=[0.5], colors="0.15"),
        *_points(("outside", "inside")),
        facet="kernel",
        title="kernel: {}",
        x="$x_1$",
        y="$x_2$",
        share="xy",
        columns=2,
    )


def errors() -> Iterator[Panel]:
    """The cross-validation error of the first set, of the mean set and of 80 % of the sets."""
    yield Panel(
        band(
            f"quantile({ERROR}, 0.9, over='repetition')",
            low=f"quantile({ERROR}, 0.1, over='repetition')",
            color="0.7",
            label="80 % of the sets",
        ),
        line(f"first({ERROR}, over='repetition')", marker="o", label="first set"),
        line(f"mean({ERROR}, over='repetition')", linestyle="--", label="mean of the sets"),
        x="neighbours K",
        y="cross-validation error (%)",
        ylimits=(0, None),
    )
