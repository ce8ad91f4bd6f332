"""The figures of a sweep: curves, heat maps, histograms."""

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

from bythebook.experiments.sweeps import figures
from bythebook.experiments.sweeps.plan import SweepPlan, SweepTable, columns_from_cells
from bythebook.experiments.sweeps.tables import cells_frame, means_frame

pytestmark = pytest.mark.usefixtures("print_style")


def swept(**knobs: list[str]) -> tuple[SweepPlan, pd.DataFrame]:
    """A sweep over the knobs and two seeds, whose loss increases with the index of the cell."""
    grid: list[dict[str, str]] = [{}]
    for name, values in {**knobs, "seed": ["0", "1"]}.items():
        grid = [{**cell, name: value} for cell in grid for value in values]
    plan = SweepPlan("sweep-x", "a_study", "a $ study", [], None, columns_from_cells(grid))
    rows = SweepTable(len(grid))
    for i in range(len(grid)):
        rows.set_row(i, "r", {"same": 1, "loss": float(i)})
    return plan, cells_frame(plan, rows)


def drawn(plan: SweepPlan, table: pd.DataFrame) -> dict[str, Figure]:
    return figures.draw_figures(plan, table, means_frame(plan, table))


def test_one_knob_gives_a_curve_with_standard_errors() -> None:
    plan, table = swept(**{"study.folds": ["10", "2", "5"]})
    (figure,) = drawn(plan, table).values()
    (ax,) = figure.axes
    (bars,) = ax.containers
    assert list(bars[0].get_xdata()) == [2, 5, 10]
    assert bars.has_yerr
    assert ax.get_ylabel() == "loss, mean and s.e. over seeds"


def test_a_wide_range_of_values_gives_a_logarithmic_axis() -> None:
    figures = [drawn(*swept(**{"study.C": values})) for values in (["0.01", "1"], ["1", "10"])]
    assert [figure["sweep"].axes[0].get_xscale() for figure in figures] == ["log", "linear"]


def test_two_knobs_give_a_heat_map_with_numbers() -> None:
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


def test_a_sweep_over_seeds_only_gives_a_histogram() -> None:
    plan, table = swept()
    (figure,) = drawn(plan, table).values()
    assert figure.axes[0].get_ylabel() == "runs"


def marked(mark: figures.ReferenceValue, **knobs: list[str]) -> dict[str, Figure]:
    plan, table = swept(**knobs)
    table["study.folds"] = table.get("study.folds", pd.Series(dtype=int)).astype(int)
    return figures.draw_figures(plan, table, means_frame(plan, table), [mark])


def test_a_printed_value_is_a_line_with_a_star_at_the_published_knob() -> None:
    mark = figures.ReferenceValue(2.5, "Figure 1 prints 2.5", {"study.folds": 5})
    (ax,) = marked(mark, **{"study.folds": ["2", "5"]})["sweep"].axes
    level, star = ax.lines[-2:]
    assert set(level.get_ydata()) == {2.5}
    assert (list(star.get_xdata()), list(star.get_ydata())) == ([5], [2.5])
    elsewhere = figures.ReferenceValue(2.5, "Figure 1 prints 2.5", {"study.folds": 7})
    (ax,) = marked(elsewhere, **{"study.folds": ["2", "5"]})["sweep"].axes
    assert set(ax.lines[-1].get_ydata()) == {2.5}  # no star where nothing was swept


def test_a_printed_value_is_marked_on_the_colour_bar_and_its_cell_framed() -> None:
    mark = figures.ReferenceValue(2.5, "Figure 1 prints 2.5", {"study.folds": 5, "study.data": "b"})
    knobs = {"study.folds": ["2", "5"], "study.data": ["a", "b"]}
    drawing = marked(mark, **knobs)["sweep"]
    ax, bar = drawing.axes
    assert 2.5 in {y for line in bar.lines for y in line.get_ydata()}
    (frame,) = ax.patches
    row = [label.get_text() for label in ax.get_yticklabels()].index("b")
    assert frame.get_xy() == (1, row)
    assert [text.get_text() for text in drawing.legends[0].get_texts()] == [mark.label]


def test_a_printed_value_is_a_line_on_a_histogram() -> None:
    mark = figures.ReferenceValue(0.5, "Figure 1 prints 0.5", {})
    plan, table = swept()
    (ax,) = figures.draw_figures(plan, table, means_frame(plan, table), [mark])["sweep"].axes
    assert set(ax.lines[0].get_xdata()) == {0.5}


def test_a_recorded_sweep_is_drawn_from_its_table_of_runs(tmp_path: Path) -> None:
    plan, table = swept(**{"study.data": ["NA", "None"], "study.folds": ["2", "5"]})
    table.loc[0, "loss"] = math.nan
    table.to_csv(tmp_path / "cells.csv", index=False)
    assert list(figures.read_cells(tmp_path)["study.data"]) == list(table["study.data"])
    paths = figures.redraw_sweep(
        plan, figures.read_cells(tmp_path), tmp_path / "out", ["svg", "pdf"], "print"
    )
    assert [p.name for p in paths] == ["sweep.svg", "sweep.pdf", "curves.svg", "curves.pdf"]
    assert b"/Type3" not in (tmp_path / "out" / "sweep.pdf").read_bytes()
