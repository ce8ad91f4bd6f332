"""The log evidence along a chain, and the step at which unscaled messages vanish."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, point, rule

LOST = "at(underflow, sequence=0)"
SMALLEST = -744.44  # the logarithm of the smallest double


def underflow() -> Iterator[Panel]:
    """The log evidence of one sequence of each kind, and where its messages vanish."""
    yield Panel(
        line("log_evidence", x="step", by="emission", label="{}"),
        rule(SMALLEST, linestyle=":", label="logarithm of the smallest double"),
        point(SMALLEST, x=LOST, by="emission", marker="X"),
        y="log probability of the data so far",
        ylimits=(-1000, 20),
        xlimits=(0, f"1.8 * max({LOST})"),
    )
