"""Bits of Markov models against the window, and the information outside it."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, rule


def windows() -> Iterator[Panel]:
    """Bits per observation by window, and the information in one more observation."""
    yield Panel(
        line("counted_bits", x="order", color="C0", linewidth=0.4, label="counted"),
        line("exact_bits['hidden']", x="order", color="black", marker="o", label="exact"),
        rule("mean(state_bits)", color="C1", linestyle="--", label="hidden state"),
        y="bits per observation",
        columns=2,
    )
    yield Panel(
        line("max(beyond, 1e-17)", x="order", by="source", marker="o", label="{}"),
        y="bits in one more observation",
        yscale="log",
    )
