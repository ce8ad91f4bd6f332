"""Errors of direct estimates of a ratio by sample size, and of chained ones by their number."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def direct() -> Iterator[Panel]:
    """The mean error of direct estimates, for each width of the Gaussian."""
    yield Panel(
        line(
            "mean(abs(log_direct - exact_log_ratio), over='repetition')",
            x="samples",
            by="width",
            marker="o",
            label="G of width {}",
        ),
        x="samples L",
        y="mean error of the log ratio",
        xscale="log",
        yscale="log",
    )


def chained(width: float) -> Iterator[Panel]:
    """The mean error of chained estimates, from a Gaussian of some width."""
    yield Panel(
        line(
            f"mean(abs(log_ratio - at(exact_log_ratio, width={width})), over='repetition')",
            x="steps",
            by="ratios",
            marker="o",
            label="{} ratios",
        ),
        facet="way",
        x="samples of all ratios",
        y="mean error of the log ratio",
        xscale="log",
        yscale="log",
        share="y",
    )
