"""Held-out and training log likelihood against K, the largest fit, and means under each prior."""

from collections.abc import Iterator

from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.clustering import plot_mixture
from bythebook.experiments.plotting.marks import Panel, band, line, point


def held_out() -> Iterator[Panel]:
    """Mean log density of held-out points, with its standard deviation over the folds."""
    mean, sd = "mean(held_out, over='fold')", "sd(held_out, over='fold')"
    yield Panel(
        band(f"{mean} + {sd}", low=f"{mean} - {sd}", x="k", by="covariance", label=""),
        line(mean, x="k", by="covariance", marker="o", label=""),
        x="number of components K",
        y="held-out log likelihood per object",
    )


def training() -> Iterator[Panel]:
    """The log likelihood of the points against the number of components."""
    yield Panel(
        line("log_likelihood", x="k", by="covariance", marker="o", label="{}"),
        x="number of components K",
        y="log likelihood",
    )


def largest() -> Iterator[Panel]:
    """The fit with the largest number of components."""
    yield Panel(x="{x1}", y="{x2}", finish=_largest)


def _largest(ax: Axes, outcome: Outcome) -> None:
    gamma = outcome["responsibilities"].values
    theta = outcome["means"].values, outcome["covariances"].values
    plot_mixture(ax, outcome["points"].values, gamma if gamma.shape[1] <= 8 else None, *theta)


def means() -> Iterator[Panel]:
    """The means of the components under each prior, and without one."""
    yield Panel(
        point("points[:, 2]", x="points[:, 1]", color="0.75", ms=3, label=""),
        point(
            "means_with_prior[:, :, 2]",
            x="means_with_prior[:, :, 1]",
            by="prior_variance",
            ms=8,
            label="$s^2$ = {}",
        ),
        point(
            "means_without_prior[:, 2]",
            x="means_without_prior[:, 1]",
            color="black",
            marker="+",
            ms=16,
            label="no prior",
        ),
        x="{x1}",
        y="{x2}",
        xlimits=(-2, 9),
    )
