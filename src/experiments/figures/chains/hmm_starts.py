"""The objective by iteration, and the final gap to the best run, by start."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, point, rule

LOWEST = "min(where(final, finite(final)))"


def starts() -> Iterator[Panel]:
    """Log likelihood by iteration in the first data set, and the ends of all runs."""
    yield Panel(
        line("objective[:, :, 1:300]", x="iteration", by="start", label="{}"),
        xscale="log",
        ylimits=(f"{LOWEST} - 0.2 * (max(best) - {LOWEST}) - 1", None),
        y="log likelihood (nats)",
        title="first data set",
    )
    yield Panel(
        point("start", x="best - final", by="start", ms=4),
        rule(x=1, linestyle=":"),
        x="end below the best (nats)",
        xscale="symlog",
        title="all runs",
    )
