"""Frequencies of rolls; errors over the games, and against the lag."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, bar, hist, line, rule


def faces() -> Iterator[Panel]:
    """The frequency of each face in simulated games, by die."""
    yield Panel(
        bar("face_counts / sum(face_counts, over='face')", x="face", by="die", label="{} die"),
        rule("1 / 6", linestyle=":", label="1/6"),
        y="frequency",
    )


def errors() -> Iterator[Panel]:
    """Wrong dice in each game, with the mean and the book's game."""
    yield Panel(
        hist("errors", color="0.75"),
        rule(
            x="mean(errors, over='game')",
            color="C0",
            linestyle=":",
            linewidth=1.5,
            label="mean {x:.1f}",
        ),
        rule(x="book_errors", color="black", linewidth=1.5, label="the book's game: {x:.0f}"),
        facet="estimate",
        only=("filtered", "smoothed", "viterbi"),
        x="wrong dice",
        y="games",
        share="x",
        columns=1,
        height=0.6,
    )


def lags() -> Iterator[Panel]:
    """The mean number of wrong dice against the lag."""
    yield Panel(
        line("mean(lagged_errors, over='game')", x="lag", marker="o", label="fixed lag"),
        rule("mean(errors['filtered'])", color="C1", label="filtered: {y:.1f}"),
        rule("mean(errors['smoothed'])", color="C2", label="smoothed: {y:.1f}"),
        y="mean number of wrong dice",
        xscale="log",
    )
