"""Figures: words that fit on them, sizes of a page, the figures of a sweep."""

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib import rcParams
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from experiments.drawing import canvas, layout
from experiments.sweeping import figure
from experiments.sweeping.plan import Plan, Rows, columns
from experiments.sweeping.tables import long_table, pivot_table

LONG = "a label of many words that no axes of one column of a paper has room for, however set"


@pytest.fixture(autouse=True)
def _print() -> Any:
    with canvas.style("print"):
        yield


def outside(figure: Figure) -> list[str]:
    """The words that stick out of the figure."""
    figure.draw_without_rendering()
    texts = [t for ax in figure.axes for t in (ax.title, ax.xaxis.label, ax.yaxis.label)]
    legends = [*figure.legends, *(legend for ax in figure.axes if (legend := ax.get_legend()))]
    texts += [text for legend in legends for text in legend.get_texts()]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text()]
    width, height = figure.bbox.size
    return [w for w, b in boxes if min(b.x0, b.y0) < -1 or b.x1 > width + 1 or b.y1 > height + 1]


def test_long_labels_and_titles_are_broken() -> None:
    figure, ax = canvas.panels()
    ax.set(xlabel=LONG, ylabel=LONG, title=LONG)
    assert len(outside(figure)) == 3
    layout.fit(figure)
    assert outside(figure) == []
    assert ax.get_xlabel().replace("\n", " ") == LONG


def test_neighbours_do_not_run_into_each_other() -> None:
    figure, axes = canvas.panels(1, 3)
    for ax in axes:
        ax.set_title("a title longer than its panel, by a few letters")
    layout.fit(figure)
    figure.draw_without_rendering()
    left, middle, right = (ax.title.get_window_extent() for ax in axes)
    assert left.x1 <= middle.x0
    assert middle.x1 <= right.x0


def test_wide_legends_lose_columns() -> None:
    figure, ax = canvas.panels()
    for k in range(4):
        ax.plot([0, 1], [k, k], label=f"the {k}th of several lines")
    figure.legend(loc="outside lower center", ncols=4)
    assert outside(figure)
    layout.fit(figure)
    assert outside(figure) == []
    (legend,) = figure.legends
    rows = {round(text.get_window_extent().y0) for text in legend.get_texts()}
    assert len(rows) == 2


def test_a_legend_below_leaves_the_label_free() -> None:
    figure, ax = canvas.panels()
    ax.plot([0, 1], label="a line")
    ax.set_xlabel("a label")
    legend = ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.05))
    layout.fit(figure)
    figure.draw_without_rendering()
    assert legend.get_window_extent().y1 <= ax.xaxis.label.get_window_extent().y0 + 1
    assert outside(figure) == []


def test_what_fits_stays() -> None:
    figure, ax = canvas.panels()
    ax.set(xlabel="time (s)", ylabel="length (m)")
    layout.fit(figure)
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
def test_lines_break_at_blanks_outside_formulas(line: str, width: int, lines: list[str]) -> None:
    assert layout.broken(line, width).split("\n") == lines


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_no_figure_is_wider_than_a_page(columns: int) -> None:
    figure, _ = canvas.panels(1, columns)
    assert figure.get_figwidth() <= 7.1


def test_the_first_colours_on_paper_differ_in_greyscale_and_their_lines_in_dashes() -> None:
    cycle = list(rcParams["axes.prop_cycle"])[:4]
    greys = sorted(
        0.299 * r + 0.587 * g + 0.114 * b for r, g, b in (to_rgb(c["color"]) for c in cycle)
    )
    assert min(b - a for a, b in pairwise(greys)) > 0.1
    assert len({c["linestyle"] for c in cycle}) == 4


def swept(**knobs: list[str]) -> tuple[Plan, pd.DataFrame]:
    """A sweep over the knobs and two seeds, whose loss grows with the place of the cell."""
    grid: list[dict[str, str]] = [{}]
    for name, values in {**knobs, "seed": ["0", "1"]}.items():
        grid = [{**cell, name: value} for cell in grid for value in values]
    plan = Plan("sweep-x", "a_study", "a $ study", [], None, columns(grid))
    rows = Rows(len(grid))
    for i in range(len(grid)):
        rows.put(i, "r", {"same": 1, "loss": float(i)})
    return plan, long_table(plan, rows)


def drawn(plan: Plan, table: pd.DataFrame) -> dict[str, Figure]:
    return figure.figures(plan, table, pivot_table(plan, table))


def test_one_knob_is_a_curve_with_standard_errors() -> None:
    plan, table = swept(**{"study.folds": ["10", "2", "5"]})
    (figure,) = drawn(plan, table).values()
    (ax,) = figure.axes
    (bars,) = ax.containers
    assert list(bars[0].get_xdata()) == [2, 5, 10]
    assert bars.has_yerr
    assert ax.get_ylabel() == "loss, mean and s.e. over seeds"


def test_values_over_decades_have_a_logarithmic_axis() -> None:
    figures = [drawn(*swept(**{"study.C": values})) for values in (["0.01", "1"], ["1", "10"])]
    assert [figure["sweep"].axes[0].get_xscale() for figure in figures] == ["log", "linear"]


def test_two_knobs_are_a_heat_map_with_its_numbers() -> None:
    plan, table = swept(**{"study.folds": ["2", "5"], "study.data": ["b", "a", "c"]})
    found = drawn(plan, table)
    assert list(found) == ["sweep", "curves"]
    ax = found["sweep"].axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["b", "a", "c"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2", "5"]
    written = {(t.get_position()[0], t.get_position()[1]): t.get_text() for t in ax.texts}
    assert written[0.5, 0.5] == "0.5\n± 0.5"  # folds=2, data=b: losses 0 and 1
    assert written[1.5, 2.5] == "10.5\n± 0.5"


def test_a_missing_combination_is_a_gap() -> None:
    plan, table = swept(**{"study.folds": ["2", "5"], "study.data": ["a", "b"]})
    table.loc[0:1, "status"] = "failed"
    ax = drawn(plan, table)["sweep"].axes[0]
    values: Any = ax.collections[0].get_array()
    row = [label.get_text() for label in ax.get_yticklabels()].index("a")
    assert values.mask.reshape(2, 2)[row].tolist() == [True, False]
    assert values.mask.sum() == 1


def test_seeds_alone_are_a_histogram() -> None:
    plan, table = swept()
    (figure,) = drawn(plan, table).values()
    assert figure.axes[0].get_ylabel() == "runs"


def test_a_recorded_sweep_is_drawn_from_its_cells(tmp_path: Path) -> None:
    plan, table = swept(**{"study.data": ["NA", "None"], "study.folds": ["2", "5"]})
    table.loc[0, "loss"] = math.nan
    table.to_csv(tmp_path / "cells.csv", index=False)
    assert list(figure.read_cells(tmp_path)["study.data"]) == list(table["study.data"])
    paths = figure.redraw(plan, tmp_path, tmp_path / "out", ["svg", "pdf"], "print")
    assert [p.name for p in paths] == ["sweep.svg", "sweep.pdf", "curves.svg", "curves.pdf"]
    assert b"/Type3" not in (tmp_path / "out" / "sweep.pdf").read_bytes()


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_a_figure_is_laid_out_and_drawn_once(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure, ax = canvas.panels()
    ax.set(xlabel="time (s)", ylabel="length (m)")
    drawn: list[str] = []
    whole = Figure.draw
    monkeypatch.setattr(
        Figure, "draw", lambda self, renderer: (drawn.append(suffix), whole(self, renderer))
    )
    (path,) = canvas.save(figure, tmp_path, "figure", [suffix])
    assert drawn == [suffix]
    assert path.stat().st_size > 1000


def test_all_formats_have_the_size_of_the_figure(tmp_path: Path) -> None:
    figure, _ = canvas.panels()
    width, height = figure.get_size_inches()
    paths = canvas.save(figure, tmp_path, "figure", ["pdf", "svg", "png", "webp"])
    pdf, svg, png, small = paths
    assert f"/MediaBox [ 0 0 {72 * width:g} {72 * height:g} ]".encode() in pdf.read_bytes()
    assert f'viewBox="0 0 {72 * width:g} {72 * height:g}"' in svg.read_text()
    with Image.open(png) as image, Image.open(small) as thumbnail:
        assert image.size == (round(600 * width), round(600 * height))
        assert max(thumbnail.size) <= canvas.SMALL
        ratio = image.size[0] / image.size[1]
        assert thumbnail.size[0] / thumbnail.size[1] == pytest.approx(ratio, rel=0.01)
