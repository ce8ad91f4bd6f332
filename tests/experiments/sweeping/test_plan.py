"""A sweep's plan and rows: what they keep of the cells, and how little room that takes."""

import gc
import hashlib
import json
import math
import tracemalloc

from experiments.configuration.build import Template, experiment_job
from experiments.sweeping.expand import Block, Grid
from experiments.sweeping.plan import Cell, Plan, Rows, columns


def test_a_sweeps_name_is_a_digest_of_its_cells(grid: Grid) -> None:
    plan = Plan.of(grid, ["seed=0,1,2"], None)
    text = json.dumps([[cell.swept, cell.job.key] for cell in grid])
    assert plan.id == f"sweep-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    assert plan.swept == columns(cell.swept for cell in grid)
    assert plan.label(4) == "data.dir=a, folds=5, seed=1"
    assert len(plan) == len(plan.keys) == 12


def test_numbers_that_are_none_and_numbers_too_large() -> None:
    rows = Rows(1)
    rows.put(0, "r", {"nan": math.nan, "inf": -math.inf, "huge": 10**400, "whole": 7})
    found = dict(rows.metrics(0))
    assert math.isnan(found["nan"])
    assert (found["inf"], found["huge"], found["whole"]) == (-math.inf, math.inf, 7)


def room(template: Template, cells: int, numbers: int) -> int:
    """Bytes that a sweep of so many cells takes when all are done."""
    axis = [("seed", str(i), i) for i in range(cells)]
    tracemalloc.start()
    try:
        grid = Grid([Block(template, {}, [axis])], ["seed"])
        plan, rows = Plan.of(grid, [], None), Rows(cells)
        for i in range(cells):
            rows.put(i, f"{plan.keys[i]}-1", {f"metric {k}": i + k / 7 for k in range(numbers)})
        gc.collect()  # empty the lists of free tuples as well
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_a_cell_takes_the_room_of_its_numbers(counted: type[Template]) -> None:
    """And of two names and its place in some lists, where a dictionary would take thousands."""
    room(counted(), 10, 20)  # what is loaded once is loaded
    assert (room(counted(), 2500, 20) - room(counted(), 500, 20)) / 2000 < 8 * 20 + 600


def test_a_plan_keeps_nothing_of_the_jobs() -> None:
    job = experiment_job("fcml/fig-1.15")
    plan = Plan.of([Cell({"seed": "0"}, job)], ["tracking.uri=http://me:secret@host"], None)
    assert "secret" not in repr(plan)
    assert plan.title == "Figure 1.15 over seed"
