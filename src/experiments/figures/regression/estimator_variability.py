"""Estimates over many data sets: their spread, the lines they give, and the noise variance."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, ellipse, hist, line, point, rule


def data() -> Iterator[Panel]:
    """One data set and the true line."""
    yield Panel(
        point("targets", x="inputs", color="C1", label="one data set"),
        line("truth", color="black", linewidth=2.5, label="true line"),
        x="x",
        y="t",
    )


def lines() -> Iterator[Panel]:
    """The lines fitted to the first data sets, and the true line."""
    yield Panel(
        line("lines", x="x", color="C1", linewidth=1, alpha=0.7, label="fitted lines"),
        line("truth", color="black", linewidth=2.5, label="true line"),
        x="x",
        y="t",
    )


def estimates() -> Iterator[Panel]:
    """The estimated weights, and the ellipse of two standard deviations by the formula."""
    yield Panel(
        point(
            "w_hat[:, 1]",
            x="w_hat[:, 0]",
            color="C0",
            label="estimates",
            markersize=2,
            markeredgewidth=0,
            alpha=0.3,
            rasterized=True,
        ),
        ellipse("mean(w_hat, over='repetition')", cov="covariance", color="C1"),
        x="estimate of $w_0$",
        y="estimate of $w_1$",
    )


def noise_estimates() -> Iterator[Panel]:
    """The estimated noise variances, and their mean."""
    yield Panel(
        hist("noise_variance_estimate", color="C4"),
        rule(x="mean(noise_variance_estimate)", color="C0", linestyle="--", label="mean estimate"),
        rule(
            x="mean(noise_variance_about_truth)",
            color="black",
            label="mean squared distance from the true line",
        ),
        x="estimated noise variance",
        y="data sets",
    )


def noise_variance(true: float, weights: int) -> Iterator[Panel]:
    """The mean estimate of the noise variance against the number of points."""
    size = "coordinates(mean_noise_variance)"
    yield Panel(
        point("mean_noise_variance", label="mean estimate"),
        line(
            f"{true} * (1 - {weights} / {size})",
            x="n",
            linestyle="--",
            color="C1",
            label="expected (2.53)",
        ),
        rule(true, color="black", label="true noise variance"),
        x="data points N",
        y="noise variance",
        xscale="log",
    )
