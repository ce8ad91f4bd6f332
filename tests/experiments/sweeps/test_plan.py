"""The plan of a sweep and its table of metrics, and the memory that they need."""

import gc
import hashlib
import json
import math
import tracemalloc

from bythebook.experiments.config.validation import JobFactory, load_job
from bythebook.experiments.sweeps.grid import GridBlock, SweepGrid
from bythebook.experiments.sweeps.plan import SweepCell, SweepPlan, SweepTable, columns_from_cells


def test_the_id_of_a_sweep_is_a_digest_of_its_cells(grid: SweepGrid) -> None:
    plan = SweepPlan.from_cells(grid, ["seed=0,1,2"], None)
    text = json.dumps([[cell.swept, cell.job.key] for cell in grid])
    assert plan.id == f"sweep-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    assert plan.swept == columns_from_cells(cell.swept for cell in grid)
    assert plan.label(4) == "data_dir=a, folds=5, seed=1"
    assert len(plan) == len(plan.keys) == 12


def test_nan_and_numbers_too_large_for_a_float() -> None:
    rows = SweepTable(1)
    rows.set_row(0, "r", {"nan": math.nan, "inf": -math.inf, "huge": 10**400, "integer": 7})
    found = dict(rows.metrics(0))
    assert math.isnan(found["nan"])
    assert (found["inf"], found["huge"], found["integer"]) == (-math.inf, math.inf, 7)


def memory(factory: JobFactory, cells: int, numbers: int) -> int:
    """The bytes of a finished sweep with so many cells and metrics."""
    axis = [("seed", str(i), i) for i in range(cells)]
    tracemalloc.start()
    try:
        grid = SweepGrid([GridBlock(factory, {}, [axis])], ["seed"])
        plan, rows = SweepPlan.from_cells(grid, [], None), SweepTable(cells)
        for i in range(cells):
            rows.set_row(i, f"{plan.keys[i]}-1", {f"metric {k}": i + k / 7 for k in range(numbers)})
        gc.collect()  # empty the lists of free tuples as well
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_a_cell_needs_little_memory(counting_factory: type[JobFactory]) -> None:
    """Eight bytes per number, and some for the run id and the key."""
    memory(counting_factory(), 10, 20)  # the first call loads modules
    few, many = (memory(counting_factory(), cells, 20) for cells in (500, 2500))
    assert (many - few) / 2000 < 8 * 20 + 600


def test_a_plan_contains_no_jobs_and_no_passwords() -> None:
    job = load_job("fcml/fig-1.15")
    plan = SweepPlan.from_cells(
        [SweepCell({"seed": "0"}, job)], ["tracking_uri=http://me:secret@host"], None
    )
    assert "secret" not in repr(plan)
    assert plan.title == "Figure 1.15 over seed"
