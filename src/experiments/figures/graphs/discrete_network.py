"""Bars of probabilities, and settings of random networks."""

from collections.abc import Iterator
from typing import Any

from bythebook.experiments.plotting.marks import Panel, bar, diagonal, point


def _upright(ax: Any, _: Any) -> None:
    """Labels from bottom to top, with the conditions on a second line."""
    labels = [label.get_text().replace(" | ", " |\n") for label in ax.get_xticklabels()]
    ax.set_xticks(ax.get_xticks(), labels, rotation=90)


def probabilities(*ranges: str) -> Iterator[Panel]:
    """A panel of bars for each range of events, "first : last"; without ranges, all events."""
    for text in ranges or ("",):
        first, _, last = (part.strip() for part in text.partition(" : "))
        events = f"p['{first}':'{last or first}']" if first else "p"
        yield Panel(
            bar(events, x="event"),
            x="",
            y="probability",
            ylimits=(0, 1),
            finish=_upright,
        )


def settings(asked: str = "") -> Iterator[Panel]:
    """Probability and expected errors of the most probable setting against other estimates."""
    label = f", '{asked}'" if asked else ""
    for name, words in (
        ("probability", "probability of the setting"),
        ("wrong", "expected number of wrong states"),
    ):
        yield Panel(
            *(
                point(f"{name}['{way}'{label}]", x=f"{name}['map'{label}]", label=way.upper())
                for way in ("mpm", "mpe")
            ),
            diagonal(),
            x=f"{words}, MAP",
            y=f"{words}, other estimate",
            title=asked or None,
        )
