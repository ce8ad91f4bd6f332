"""Posteriors of a line: ellipses of its weights, sampled lines, predictions, noise."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, ellipse, line, point, rule


def data() -> Iterator[Panel]:
    """The data with scaled inputs."""
    yield Panel(point("targets", x="inputs"), x="({input} - {shift:g}) / {scale:g}", y="{target}")


def posterior() -> Iterator[Panel]:
    """The posterior of intercept and slope after each number of points."""
    yield Panel(
        ellipse("w_mean", cov="w_covariance", color="C0"),
        point("w_mean[:, 1]", x="w_mean[:, 0]", marker="+", color="C1", label="mean"),
        facet="observed",
        title="observed points: {}",
        x="intercept $w_0$",
        y="slope $w_1$",
        columns=2,
    )


def lines() -> Iterator[Panel]:
    """The data, and lines drawn from the posterior after each number of points."""
    yield Panel(
        line("lines", x="x", color="C0", linewidth=0.9, alpha=0.8, label="drawn lines"),
        line("mean_line", x="x", color="C1", linewidth=2, label="mean line"),
        point("targets", x="inputs", color="black", markersize=3, label="data"),
        facet="observed",
        title="observed points: {}",
        x="({input} - {shift:g}) / {scale:g}",
        y="{target}",
        columns=2,
        share="x",
    )


def predictive() -> Iterator[Panel]:
    """The predictive density at the first new input."""
    yield Panel(
        line("density", label="predictive density"),
        rule(x="first(prediction)", color="C1", linestyle="--", label="mean"),
        x="{target}",
        y="density",
    )


def noise() -> Iterator[Panel]:
    """The noise variance before and after the data."""
    yield Panel(
        line("noise_posterior", x="v", label="posterior"),
        line("noise_prior", x="v", linestyle="--", label="prior IG({alpha:g}, {beta:g})"),
        rule(x="noise_variance", color="black", linestyle=":", label="most likely"),
        x="noise variance",
        y="density",
        xlimits=(0, "4 * noise_variance"),
        ylimits=(0, "1.05 * max(noise_posterior)"),
    )
