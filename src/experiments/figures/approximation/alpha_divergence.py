"""Divergences of a few pairs along alpha, and the runs of states that the best q covers."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, bar, image, line


def divergences() -> Iterator[Panel]:
    """Divergences of five pairs of Gaussians against alpha."""
    yield Panel(
        line("divergence[:, 0:4]", x="alpha", by="pair", label="", marker="."),
        x="α",
        y="divergence (nats)",
        yscale="log",
    )


def runs() -> Iterator[Panel]:
    """A distribution of two blocks, and the best uniform q for each alpha."""
    yield Panel(bar("first_p", x="state", color="0.6"), x="state", y="p", share="x")
    yield Panel(image("first_q"), x="state", y="α", title="best q")
