"""Wraps labels, titles and legends that are too long for their figure."""

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import BboxBase

_MAX_ROUNDS = 5  # wrapping a label makes its axes smaller, so another round may be needed
_SLACK = 1.08  # length of a label in a grid of panels, in units of the length of its axes
_WORD = re.compile(r"(?:\$[^$]*\$|\S)+")  # a formula in dollar signs is one word


class _TextExtent(NamedTuple):
    """A text with its length and its maximum length, in pixels."""

    text: Text
    length: float
    max_length: float


def fit_text(figure: Figure) -> None:
    """Compute the layout, and repeat it while texts or legends have to be changed."""
    engine = figure.get_layout_engine()
    if engine is None:
        return
    for _ in range(_MAX_ROUNDS):
        engine.execute(figure)
        texts = [entry for ax in figure.axes for entry in _texts(ax, figure.bbox)]
        wrapped = [entry for entry in texts if entry.length > entry.max_length and _wrap(entry)]
        narrowed = [entry for entry in _legends(figure) if _reduce_legend_columns(entry, figure)]
        moved = [ax for ax in figure.axes if _move_legend_down(ax)]
        if not wrapped and not narrowed and not moved:
            figure.set_layout_engine("none")  # drawing need not compute the layout again
            return


def _texts(ax: Axes, page: BboxBase) -> Iterator[_TextExtent]:
    """The title and labels of axes; neighbouring panels and the figure limit their length."""
    box, spec = ax.bbox, ax.get_subplotspec()
    rows, columns = spec.get_gridspec().get_geometry() if spec is not None else (1, 1)
    width = _available_length(box.x0, box.x1, page.x1)
    height = _available_length(box.y0, box.y1, page.y1)
    if columns > 1:
        width = min(width, _SLACK * box.width)
    if rows > 1:
        height = min(height, _SLACK * box.height)
    for text, limit in ((ax.title, width), (ax.xaxis.label, width), (ax.yaxis.label, height)):
        if text.get_visible() and text.get_text():
            extent = text.get_window_extent()
            length = extent.height if text is ax.yaxis.label else extent.width
            yield _TextExtent(text, length, limit)


def _available_length(start: float, end: float, edge: float) -> float:
    """The largest length on the page of a text that is centred on the axes."""
    middle = (start + end) / 2
    return 2 * min(middle, edge - middle)


def _wrap(entry: _TextExtent) -> bool:
    """Wrap a text to its maximum length; False if that is not possible."""
    before = entry.text.get_text()
    longest = max(before.splitlines(), key=len)
    width = math.floor(len(longest) * entry.max_length / entry.length)
    after = "\n".join(wrap_line(line, width) for line in before.splitlines())
    entry.text.set_text(after)
    return after != before


def wrap_line(line: str, width: int) -> str:
    """A text wrapped at blanks into lines of about equal length, at most `width` if possible."""
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


def _reduce_legend_columns(legend: Legend, figure: Figure) -> bool:
    """Remove a column from a legend that is wider than the figure; False if nothing changed.

    matplotlib cannot change the columns of a legend, so a new legend replaces it.
    """
    if legend.get_window_extent().width <= figure.bbox.width:
        return False
    figure.draw_without_rendering()  # computes the positions of its entries
    texts = legend.get_texts()
    columns = len({round(text.get_window_extent().x0) for text in texts})
    if columns < 2:
        return False
    options: dict[str, Any] = {"ncols": columns - 1, "fontsize": texts[0].get_fontsize()}
    options["handles"], options["labels"] = (
        legend.legend_handles,
        [text.get_text() for text in texts],
    )
    if legend.get_title().get_text():
        options["title"] = legend.get_title().get_text()
    if legend in figure.legends:
        legend.remove()
        figure.legend(loc="outside lower center", **options)
        return True
    ax = legend.axes
    assert ax is not None
    anchor = legend.get_bbox_to_anchor().transformed(ax.transAxes.inverted())
    position = (float(anchor.x0 + anchor.x1) / 2, float(anchor.y1))
    ax.legend(loc="upper center", bbox_to_anchor=position, **options)
    return True


def _move_legend_down(ax: Axes) -> bool:
    """Move a legend below the axes so that it does not cover the axis label; True if moved."""
    legend = ax.get_legend()
    if legend is None or not legend.get_visible():
        return False
    box, label = legend.get_window_extent(), ax.xaxis.get_tightbbox()
    if label is None or box.y1 > ax.bbox.y0 or box.y1 <= label.y0:
        return False
    anchor = legend.get_bbox_to_anchor()
    x = (anchor.x0 + anchor.x1) / 2
    top = anchor.y1 - (box.y1 - label.y0)
    position = ax.transAxes.inverted().transform((x, top))
    legend.set_bbox_to_anchor((float(position[0]), float(position[1])), ax.transAxes)
    return True
