"""The bound after half steps, incremental EM, K-means as a limit, and log likelihoods."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def bound() -> Iterator[Panel]:
    """The bound after each half step of the first iterations, and the gap that it leaves."""
    yield Panel(
        line("log_likelihood[1:12, 'M']", marker="D", color="C2", label="log likelihood"),
        line("bound[1:12, 'E']", marker="o", color="C0", label="bound after the E step"),
        line("bound[1:12, 'M']", marker="s", color="C1", label="bound after the M step"),
        x="iteration",
        y="nats",
    )
    yield Panel(
        line("divergence[:, 'M']", marker="s", ms=3, color="C1"),
        x="iteration",
        y="divergence after the M step",
        yscale="log",
    )


def passes() -> Iterator[Panel]:
    """Distance from the maximum after each pass of batch and incremental EM."""
    yield Panel(
        line(
            "maximum - incremental_log_likelihood",
            x="passes",
            color="C1",
            alpha=0.35,
            linewidth=1,
            label="point by point",
        ),
        line("maximum - log_likelihood[:, 'M']", x="iteration", color="C0", label="batch"),
        x="passes over the data",
        y="log likelihood below the maximum",
        yscale="log",
        xlimits=(0, 25),
        ylimits=(1e-6, None),
    )


def limit() -> Iterator[Panel]:
    """Differences of EM with covariances epsilon I from K-means."""
    yield Panel(
        line("max(difference, over='weighting')", x="epsilon", marker="o", label="centres"),
        line(
            "max(responsibilities_off_labels, over='weighting')",
            x="epsilon",
            marker="s",
            label="responsibilities",
        ),
        line(
            "max(weights_off_fractions, over='weighting')",
            x="epsilon",
            marker="D",
            label="mixing coefficients",
        ),
        x="variance of the components",
        y="largest difference from K-means",
        xscale="log",
        yscale="log",
        ylimits=(1e-12, 10),
    )


def climb() -> Iterator[Panel]:
    """The log likelihood of each start from the first iteration on; the start is far lower."""
    yield Panel(
        line("climb[:, :, 1:]", x="steps", color="C0", linewidth=1, alpha=0.6),
        facet="model",
        title="{}",
        x="iteration",
        y="log likelihood (nats)",
        columns=3,
    )
