"""Read recorded sweeps: all of them, or one by its id; their tables with any metric."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bythebook.experiments.core.alignment import ExpressionError
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome, Scalar
from bythebook.experiments.core.suggestions import did_you_mean
from bythebook.experiments.store.run_reader import load_summary
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.store.run_summary import evaluate_metric
from bythebook.experiments.sweeps.figures import main_metric, read_cells
from bythebook.experiments.sweeps.plan import SweepPlan, SweepTable, short_name
from bythebook.experiments.sweeps.run import load_sweep
from bythebook.experiments.sweeps.tables import (
    cells_frame,
    format_mean_se,
    means_frame,
    metric_names,
)

if TYPE_CHECKING:
    import pandas as pd


NO_METRIC_MESSAGE = "the runs have no scalar metric; set metric=<expression>"
LEGEND = "mean ± s.e. over seeds; ▼ smallest, ▲ largest"


@dataclass(frozen=True)
class RecordedSweep:
    """A sweep as its folder holds it: the plan, the state, and the id of each cell's run."""

    folder: Path
    plan: SweepPlan
    state: dict[str, Any]
    runs: list[str | None]

    @property
    def id(self) -> str:
        return self.folder.name

    @property
    def done(self) -> int:
        return sum(run is not None for run in self.runs)

    def check(self, metric: str, outputs: Path) -> None:
        """Raise `InputError` if the first run does not have the metric."""
        store = RunStore(outputs)
        first = next((run for run in self.runs if run is not None), None)
        if first is not None:
            record = store.find(first)
            validate_metric(metric, record.outcome, record.metrics)


def read_all(outputs: Path) -> tuple[list[RecordedSweep], list[str]]:
    """All sweeps, the newest first, and a line for each one that cannot be read."""
    sweeps, problems = [], []
    for path in outputs.glob("sweeps/*/sweep.json"):
        try:
            sweeps.append(RecordedSweep(path.parent, *load_sweep(path.parent)))
        except (OSError, ValueError, KeyError, TypeError) as error:
            problems.append(f"could not read the sweep {path.parent.name}: {error}")
    return sorted(sweeps, key=lambda sweep: -sweep.state["started"]), problems


def find_sweep(outputs: Path, name: str) -> RecordedSweep:
    """The sweep whose id, with or without `sweep-`, starts with `name`."""
    known = sorted(path.parent.name for path in outputs.glob("sweeps/*/sweep.json"))
    digits = name.removeprefix("sweep-")
    matches = [id_ for id_ in known if digits and id_.removeprefix("sweep-").startswith(digits)]
    if not matches:
        shown = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
        raise InputError(
            f"there is no sweep '{name}' in {outputs / 'sweeps'}{did_you_mean(name, known)};"
            f" allowed: {shown or 'none, no sweep is recorded'}"
        )
    if len(matches) > 1:
        raise InputError(f"'{name}' matches {len(matches)} sweeps: {', '.join(matches[:4])}")
    folder = outputs / "sweeps" / matches[0]
    try:
        return RecordedSweep(folder, *load_sweep(folder))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"could not read the sweep {folder.name}: {error}") from error


def load_cells(
    sweep: RecordedSweep, outputs: Path, metric: str | None = None
) -> "tuple[SweepPlan, pd.DataFrame]":
    """The plan and the table of runs with a metric; an expression is evaluated on the records."""
    plan = replace(sweep.plan, metric=metric or sweep.plan.metric)
    table = _stored_table(sweep)
    if table is not None and (metric is None or metric in metric_names(table, plan)):
        return plan, table
    rows = SweepTable(len(plan))
    for index, path in enumerate(RunStore(outputs).locate_runs(sweep.runs)):
        if path is not None:
            rows.add(index, load_summary(path, metric), metric)
    if rows.problem:
        raise InputError(f"metric={rows.problem}")
    if not rows:
        raise InputError(f"the sweep {sweep.id} has no recorded runs")
    return plan, cells_frame(plan, rows)


def _stored_table(sweep: RecordedSweep) -> "pd.DataFrame | None":
    """The table of runs in the sweep's folder, unless it belongs to another sweep."""
    try:
        table = read_cells(sweep.folder)
    except (OSError, ValueError):
        return None
    return table if {*sweep.plan.swept} <= {*table.columns} and len(table) else None


def validate_metric(metric: str, outcome: Outcome, scalars: Mapping[str, Scalar]) -> None:
    """Raise `InputError` if a run does not have the metric; the message suggests a name."""
    if metric in scalars:
        return
    try:
        evaluate_metric(metric, outcome)
    except ExpressionError as problem:
        raise InputError(f"metric={problem}") from None


def means_table(plan: SweepPlan, table: "pd.DataFrame") -> tuple[list[str], list[list[str]]]:
    """Columns and formatted rows: the swept knobs, the number of runs, and mean ± s.e.

    Marks show the smallest and the largest mean. Both lists are empty if no run has a scalar
    metric; `NO_METRIC_MESSAGE` is the line for that case.
    """
    if not metric_names(table, plan):
        return [], []
    metric = main_metric(plan, table)
    means = means_frame(plan, table)
    values = means[f"{metric} mean"].tolist()
    known = [value for value in values if not math.isnan(value)]
    rows = []
    for row, value in enumerate(values):
        marks = "".join(
            mark
            for mark, best in ((" ▼", min(known, default=None)), (" ▲", max(known, default=None)))
            if len(set(known)) > 1 and value == best
        )
        knobs = [str(means[knob].iloc[row]) for knob in plan.varied_parameters]
        error = float(means[f"{metric} s.e."].iloc[row])
        text = format_mean_se(value, error) if not math.isnan(value) else "–"
        rows.append([*knobs, str(means["runs"].iloc[row]), f"{text}{marks}"])
    return [*map(short_name, plan.varied_parameters), "runs", metric], rows
