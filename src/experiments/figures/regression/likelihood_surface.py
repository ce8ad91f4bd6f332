"""Data at each level of noise, and the likelihood of the weights over its maximum."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, contour, point


def data() -> Iterator[Panel]:
    """The data sets, one for each level of noise."""
    yield Panel(
        point("targets", x="inputs", markersize=3.5),
        facet="noise_variance",
        title="noise variance {}",
        x="x",
        y="t",
        share="xy",
    )


def surface() -> Iterator[Panel]:
    """Contours of the likelihood, and its maximum."""
    yield Panel(
        contour("likelihood", x="w_0", levels=[0.01, 0.1, 0.3, 0.5, 0.7, 0.9], linewidths=1.2),
        point("w_hat[:, 1]", x="w_hat[:, 0]", marker="+", color="C1", label="maximum"),
        facet="noise_variance",
        title="noise variance {}",
        x="intercept",
        y="slope",
        share="xy",
    )
