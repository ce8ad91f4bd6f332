"""The bound after each update below the evidence, and the expected precision."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def bounds() -> Iterator[Panel]:
    """The gap of both bounds, and the expected precision, in each data set."""
    for quantity, label in (("bound", "local and global bound"), ("global_bound", "global bound")):
        yield Panel(
            line(f"log_evidence - {quantity}", x="update", color="C0", linewidth=1, alpha=0.6),
            x="update",
            y="log evidence less bound (nats)",
            title=label,
            xscale="log",
            yscale="log",
            share="x",
            columns=3,
        )
    yield Panel(
        line("expected_precision", x="update", color="C2", linewidth=1, alpha=0.6),
        x="update",
        y="expected precision",
        title="precision",
        xscale="log",
    )
