"""Wrapped labels, titles and legends; texts that fit are unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from bythebook.experiments.plotting import canvas, text_wrap

pytestmark = pytest.mark.usefixtures("print_style")
LONG = "a label of many words that no axes of one column of a page has space for, however set"


def outside(figure: Figure) -> list[str]:
    """The texts that extend beyond the figure."""
    figure.draw_without_rendering()
    texts = [t for ax in figure.axes for t in (ax.title, ax.xaxis.label, ax.yaxis.label)]
    legends = [*figure.legends, *(legend for ax in figure.axes if (legend := ax.get_legend()))]
    texts += [text for legend in legends for text in legend.get_texts()]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text()]
    width, height = figure.bbox.size
    return [w for w, b in boxes if min(b.x0, b.y0) < -1 or b.x1 > width + 1 or b.y1 > height + 1]


def test_long_labels_and_titles_are_wrapped() -> None:
    figure, ax = canvas.subplots()
    ax.set(xlabel=LONG, ylabel=LONG, title=LONG)
    assert len(outside(figure)) == 3
    text_wrap.fit_text(figure)
    assert outside(figure) == []
    assert ax.get_xlabel().replace("\n", " ") == LONG


def test_neighbouring_texts_do_not_overlap() -> None:
    figure, axes = canvas.subplots(1, 3)
    for ax in axes:
        ax.set_title("a title longer than its panel, by a few letters")
    text_wrap.fit_text(figure)
    figure.draw_without_rendering()
    left, middle, right = (ax.title.get_window_extent() for ax in axes)
    assert left.x1 <= middle.x0
    assert middle.x1 <= right.x0


def test_wide_legends_get_fewer_columns() -> None:
    figure, ax = canvas.subplots()
    for k in range(4):
        ax.plot([0, 1], [k, k], label=f"the {k}th of several lines")
    figure.legend(loc="outside lower center", ncols=4)
    assert outside(figure)
    text_wrap.fit_text(figure)
    assert outside(figure) == []
    (legend,) = figure.legends
    rows = {round(text.get_window_extent().y0) for text in legend.get_texts()}
    assert len(rows) == 2


def test_a_legend_below_does_not_cover_the_label() -> None:
    figure, ax = canvas.subplots()
    ax.plot([0, 1], label="a line")
    ax.set_xlabel("a label")
    legend = ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.05))
    text_wrap.fit_text(figure)
    figure.draw_without_rendering()
    assert legend.get_window_extent().y1 <= ax.xaxis.label.get_window_extent().y0 + 1
    assert outside(figure) == []


def test_texts_that_fit_are_unchanged() -> None:
    figure, ax = canvas.subplots()
    ax.set(xlabel="time (s)", ylabel="length (m)")
    text_wrap.fit_text(figure)
    assert ax.get_xlabel() == "time (s)"


@pytest.mark.parametrize(
    ("line", "width", "lines"),
    [
        ("one two three four", 10, ["one two", "three four"]),
        ("short", 3, ["short"]),
        ("fits as it is", 20, ["fits as it is"]),
        ("mean of $a + b$ here", 5, ["mean", "of", "$a + b$", "here"]),
    ],
)
def test_lines_are_wrapped_at_blanks_outside_formulas(
    line: str, width: int, lines: list[str]
) -> None:
    assert text_wrap.wrap_line(line, width).split("\n") == lines


@given(st.text("ab $", max_size=60), st.integers(1, 60))
def test_wrapping_loses_no_word_and_respects_the_width(line: str, width: int) -> None:
    lines = text_wrap.wrap_line(line, width).split("\n")
    assert " ".join(lines).split() == line.split()
    longest = max((len(word) for word in text_wrap._WORD.findall(line)), default=0)
    assert max(map(len, lines)) <= max(width, longest) or len(lines) == 1
