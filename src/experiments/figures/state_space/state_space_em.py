"""Gap of each start of EM to the best end, by iteration, for the first series."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def climb(*series: int) -> Iterator[Panel]:
    """Log likelihood below the best end of each series, from every start."""
    some = "gap[:, 'random 1':'identity'] + 0.01"
    yield Panel(
        line(some, x="iteration", color="C0", linewidth=1, label="random and identity"),
        line("gap[:, 'subspace'] + 0.01", x="iteration", color="C1", label="subspace"),
        facet="series",
        only=series or (1, 2, 3),
        y="log likelihood below the best (nats)",
        yscale="log",
        share="y",
    )
