"""Words that fit: labels, titles and legends that are too long for their figure are broken."""

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import BboxBase

_ROUNDS = 5  # a label of two lines leaves its axes less room
_SLACK = 1.08  # so much longer than its axes may a label be that has neighbours
_WORD = re.compile(r"(?:\$[^$]*\$|\S)+")  # a formula is one word


class _Room(NamedTuple):
    """A text and the pixels that it may take along its line."""

    text: Text
    length: float
    room: float


def fit(figure: Figure) -> None:
    """Lay the figure out, and again after each round in which something had to be broken."""
    engine = figure.get_layout_engine()
    if engine is None:
        return
    for _ in range(_ROUNDS):
        engine.execute(figure)
        found = [entry for ax in figure.axes for entry in _texts(ax, figure.bbox)]
        tight = [entry for entry in found if entry.length > entry.room and _break(entry)]
        wide = [entry for entry in _legends(figure) if _narrow(entry, figure)]
        low = [ax for ax in figure.axes if _lower(ax)]
        if not tight and not wide and not low:
            figure.set_layout_engine("none")  # nothing is left to search for
            return


def _texts(ax: Axes, page: BboxBase) -> Iterator[_Room]:
    """The axes' own words with the room between the figure's edges, or between neighbours."""
    place, spec = ax.bbox, ax.get_subplotspec()
    rows, columns = spec.get_gridspec().get_geometry() if spec is not None else (1, 1)
    across, upright = _around(place.x0, place.x1, page.x1), _around(place.y0, place.y1, page.y1)
    if columns > 1:
        across = min(across, _SLACK * place.width)
    if rows > 1:
        upright = min(upright, _SLACK * place.height)
    for text, room in ((ax.title, across), (ax.xaxis.label, across), (ax.yaxis.label, upright)):
        if text.get_visible() and text.get_text():
            box = text.get_window_extent()
            length = box.height if text is ax.yaxis.label else box.width
            yield _Room(text, length, room)


def _around(start: float, end: float, edge: float) -> float:
    """The length that fits on the page and has its middle where the axes have theirs."""
    middle = (start + end) / 2
    return 2 * min(middle, edge - middle)


def _break(entry: _Room) -> bool:
    """Break a text into as many lines as its length needs; was that possible?"""
    before = entry.text.get_text()
    longest = max(before.splitlines(), key=len)
    width = math.floor(len(longest) * entry.room / entry.length)
    after = "\n".join(broken(line, width) for line in before.splitlines())
    entry.text.set_text(after)
    return after != before


def broken(line: str, width: int) -> str:
    """A line broken at blanks into lines of about equal length, none over `width` if possible."""
    words = _WORD.findall(line)
    if len(line) <= width or len(words) < 2:
        return line
    fewest = len(_filled(words, width))
    even = next(w for w in range(1, len(line) + 1) if len(_filled(words, w)) <= fewest)
    return "\n".join(_filled(words, even))


def _filled(words: list[str], width: int) -> list[str]:
    lines = words[:1]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _legends(figure: Figure) -> list[Legend]:
    inside = [legend for ax in figure.axes if (legend := ax.get_legend()) is not None]
    return [*figure.legends, *inside]


def _narrow(legend: Legend, figure: Figure) -> bool:
    """Take a column from a legend that is wider than the figure; was that needed and possible?

    matplotlib packs a legend once: with fewer columns it is another legend in the same place.
    """
    if legend.get_window_extent().width <= figure.bbox.width:
        return False
    figure.draw_without_rendering()  # now its entries have their places
    texts = legend.get_texts()
    columns = len({round(text.get_window_extent().x0) for text in texts})
    if columns < 2:
        return False
    look: dict[str, Any] = {"ncols": columns - 1, "fontsize": texts[0].get_fontsize()}
    look["handles"], look["labels"] = legend.legend_handles, [text.get_text() for text in texts]
    if legend.get_title().get_text():
        look["title"] = legend.get_title().get_text()
    if legend in figure.legends:
        legend.remove()
        figure.legend(loc="outside lower center", **look)
        return True
    ax = legend.axes
    assert ax is not None
    anchor = legend.get_bbox_to_anchor().transformed(ax.transAxes.inverted())
    place = (float(anchor.x0 + anchor.x1) / 2, float(anchor.y1))
    ax.legend(loc="upper center", bbox_to_anchor=place, **look)
    return True


def _lower(ax: Axes) -> bool:
    """Move a legend that hangs below its axes off the axis' label; was that needed?"""
    legend = ax.get_legend()
    if legend is None or not legend.get_visible():
        return False
    box, label = legend.get_window_extent(), ax.xaxis.get_tightbbox()
    if label is None or box.y1 > ax.bbox.y0 or box.y1 <= label.y0:
        return False
    anchor = legend.get_bbox_to_anchor()
    x = (anchor.x0 + anchor.x1) / 2
    top = anchor.y1 - (box.y1 - label.y0)
    place = ax.transAxes.inverted().transform((x, top))
    legend.set_bbox_to_anchor((float(place[0]), float(place[1])), ax.transAxes)
    return True
