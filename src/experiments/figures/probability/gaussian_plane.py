"""Densities in the plane by their contours, with the means of x2 given x1."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, contour, point


def densities() -> Iterator[Panel]:
    """The contours of each density, and the mean of one component given the other."""
    yield Panel(
        contour("density", levels=8, colors="C0"),
        point("conditional_mean", x="given", marker="D", color="C1", label="mean of $x_2$"),
        facet="gaussian",
        title="Gaussian {}",
        x="$x_1$",
        y="$x_2$",
        share="xy",
    )
