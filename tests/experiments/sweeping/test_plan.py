"""A sweep's plan and rows: what they keep of the cells, and how little room that takes."""

import gc
import hashlib
import itertools
import json
import math
import random
import tracemalloc
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.configuration.build import Template, experiment_job
from experiments.configuration.jobs import Job
from experiments.sweeping.expand import Block, Grid
from experiments.sweeping.plan import Cell, Plan, Rows, columns
from experiments.sweeping.tables import WIDEST, long_table

KNOBS = {"study.folds": ["2", "5"], "seed": ["0", "1", "2"]}


class Counted(Template):
    """A template of one study that says how many jobs were made from it."""

    def __init__(self) -> None:
        self.made = 0

    def job(self, changes: Any = None) -> Job:
        self.made += 1
        return Job(experiment_job("fcml/fig-1.15").study, seed=int(changes["seed"]))


@pytest.fixture
def grid() -> Grid:
    axes = [[(knob, text, text) for text in values] for knob, values in KNOBS.items()]
    blocks = [Block(Counted(), {"data.dir": folder}, axes) for folder in ("a", "b")]
    return Grid(blocks, ["data.dir", *KNOBS])


def test_a_grid_is_the_product_with_the_last_knob_fastest(grid: Grid) -> None:
    expected = itertools.product("ab", *KNOBS.values())
    assert [tuple(cell.swept.values()) for cell in grid] == list(expected)
    assert [cell.job.seed for cell in grid] == [0, 1, 2] * 4
    with pytest.raises(IndexError):
        grid[len(grid)]


def test_a_cell_is_made_when_asked_for_and_its_key_computed_once(
    grid: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    template: Any = grid.blocks[0].template
    assert template.made == 0
    key = grid[1].job.key
    assert template.made == 1
    monkeypatch.setattr(
        "experiments.configuration.jobs.dumps", lambda *_: pytest.fail("computed again")
    )
    assert grid[1].job.key == key


def test_a_sweeps_name_is_a_digest_of_its_cells(grid: Grid) -> None:
    plan = Plan.of(grid, ["seed=0,1,2"], None)
    text = json.dumps([[cell.swept, cell.job.key] for cell in grid])
    assert plan.id == f"sweep-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    assert plan.swept == columns(cell.swept for cell in grid)
    assert plan.label(4) == "data.dir=a, folds=5, seed=1"
    assert len(plan) == len(plan.keys) == 12


metrics = st.dictionaries(
    st.sampled_from("abcde"), st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9)
)


@given(st.lists(metrics, min_size=1, max_size=6), st.randoms())
def test_the_long_table_is_that_of_pandas(
    cells: list[dict[str, Any]], chance: random.Random
) -> None:
    """Whatever the order in which cells are done; gaps and the types of columns included."""
    plan = Plan("sweep-x", "a", "a", [], None, {"seed": [str(i) for i in range(len(cells))]})
    rows = Rows(len(cells))
    order = list(range(len(cells)))
    chance.shuffle(order)
    for index in order:
        rows.put(index, f"run{index}", cells[index])
    fixed = {"status": "finished", "error": ""}
    expected = pd.DataFrame(
        [{"seed": i, "run": f"run{i}", **fixed, **cell} for i, cell in enumerate(cells)]
    )
    found = long_table(plan, rows)
    assert list(found.columns) == list(expected.columns)
    for name in expected:
        kinds = {type(cell[name]) for cell in cells if name in cell}
        if kinds <= {bool} or kinds <= {int}:
            assert found[name].dtype == expected[name].dtype
        for ours, theirs in zip(found[name], expected[name], strict=True):
            assert ours == theirs or (pd.isna(ours) and pd.isna(theirs))


def test_numbers_that_are_none_and_numbers_too_large() -> None:
    rows = Rows(1)
    rows.put(0, "r", {"nan": math.nan, "inf": -math.inf, "huge": 10**400, "whole": 7})
    found = dict(rows.metrics(0))
    assert math.isnan(found["nan"])
    assert (found["inf"], found["huge"], found["whole"]) == (-math.inf, math.inf, 7)


def test_of_very_many_metrics_the_common_ones_are_tabulated() -> None:
    """As when a study names its metrics after what is swept."""
    cells = WIDEST + 5
    plan = Plan("sweep-x", "a", "a", [], None, {"seed": [str(i) for i in range(cells)]})
    rows = Rows(cells)
    for i in range(cells):
        rows.put(i, "r", {f"loss at {i}": 1.0, "loss": 2.0})
    table = long_table(plan, rows)
    assert len(rows.names()) == cells + 1
    assert "loss" in table
    assert len(table.columns) == WIDEST + len(["seed", "run", "status", "error"])


def room(cells: int, numbers: int) -> int:
    """Bytes that a sweep of so many cells takes when all are done."""
    axis = [("seed", str(i), i) for i in range(cells)]
    tracemalloc.start()
    try:
        grid = Grid([Block(Counted(), {}, [axis])], ["seed"])
        plan, rows = Plan.of(grid, [], None), Rows(cells)
        for i in range(cells):
            rows.put(i, f"{plan.keys[i]}-1", {f"metric {k}": i + k / 7 for k in range(numbers)})
        gc.collect()  # empty the lists of free tuples as well
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_a_cell_takes_the_room_of_its_numbers() -> None:
    """And of two names and its place in some lists, where a dictionary would take thousands."""
    room(10, 20)  # what is loaded once is loaded
    assert (room(2500, 20) - room(500, 20)) / 2000 < 8 * 20 + 600


def test_a_plan_keeps_nothing_of_the_jobs() -> None:
    job = experiment_job("fcml/fig-1.15")
    plan = Plan.of([Cell({"seed": "0"}, job)], ["tracking.uri=http://me:secret@host"], None)
    assert "secret" not in repr(plan)
    assert plan.title == "Figure 1.15 over seed"
