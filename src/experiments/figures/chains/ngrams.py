"""Letters and pairs of letters; bits per symbol of each order; generated texts."""

import textwrap
from collections.abc import Iterator
from typing import Any

from bythebook.experiments.plotting.marks import Panel, bar, hinton, line

LINE, LINES = 48, 3  # characters, and lines of each text


def letters() -> Iterator[Panel]:
    """Counts of letters, and of pairs of letters as squares."""
    yield Panel(
        bar("symbol", x="symbol_count", color="C0"),
        y="letter",
        x="occurrences",
        columns=2,
        height=1.4,
        finish=_small,
    )
    yield Panel(hinton("pair_count", x="next"), x="next letter", y="letter", finish=_small)


def bits() -> Iterator[Panel]:
    """Bits per symbol of training and held-out text against the order."""
    by: dict[str, Any] = {"x": "order", "by": "method"}
    held = "mean(held_bits, over='block')"
    yield Panel(
        line(held, where=f"finite({held})", marker="o", label="{}, held out", **by),
        line("mean(train_bits, over='block')", linestyle="--", label="{}, training", **by),
        facet="vocabulary",
        y="bits per symbol",
        share="y",
    )


def written() -> Iterator[Panel]:
    """The first words that a model of each order generates."""
    yield Panel(finish=_texts)


def _small(ax: Any, outcome: Any) -> None:
    ax.tick_params(labelsize=5, pad=1)


def _texts(ax: Any, outcome: Any) -> None:
    ax.axis("off")
    lines = []
    for n, text in zip(outcome["written"].coord("order"), outcome["written"].values, strict=True):
        lines += [f"n = {n}", *textwrap.wrap(str(text), LINE)[:LINES], ""]
    ax.text(0, 1, "\n".join(lines), va="top", family="monospace", fontsize=7)
