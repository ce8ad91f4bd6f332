"""Bits per symbol of block codes, and the divergence of learnt models."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def codes() -> Iterator[Panel]:
    """Huffman's codes by the length of the blocks, and models by the number of symbols seen."""
    excess = "huffman_bits - entropy_bits"
    yield Panel(
        line(excess, x="block", color="0.7", linestyle="-"),
        line(f"mean({excess}, over='repetition')", x="block", color="C1", marker="o"),
        x="symbols in a codeword",
        y="Huffman's code less entropy, bits per symbol",
    )
    yield Panel(
        line("model_divergence", x="training", color="0.7", linestyle="-"),
        line("mean(model_divergence, over='repetition')", color="C1", marker="o"),
        x="symbols seen",
        y="divergence of the model, bits",
        xscale="log",
        yscale="log",
    )
