"""Operations for marginals against the length of the chain and the number of states."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def operations() -> Iterator[Panel]:
    """Additions and multiplications of each way to compute marginals."""
    yield Panel(
        line("operations", x="length", by="way", label="{}", marker="o"),
        x="nodes of the chain, with two states each",
        y="additions and multiplications",
        yscale="log",
    )
