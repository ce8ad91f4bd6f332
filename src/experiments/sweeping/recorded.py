"""Sweeps that are recorded: found by the beginning of their ids, read, shown by any metric."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.contract.errors import BadInput
from experiments.contract.labelled import BadExpression
from experiments.contract.outcome import Outcome, Scalar
from experiments.contract.suggestions import meant
from experiments.records.reading import told
from experiments.records.store import RunStore
from experiments.records.told import evaluated
from experiments.sweeping.figure import headline, read_cells
from experiments.sweeping.plan import Plan, Rows
from experiments.sweeping.run import read_sweep
from experiments.sweeping.tables import long_table, mean_and_error, metric_names, pivot_table

if TYPE_CHECKING:
    import pandas as pd

PREFIX = "sweep:"
NUMBERLESS = "no cell has a single number to show; metric=<expression> makes one of its quantities"


@dataclass(frozen=True)
class Swept:
    """A recorded sweep."""

    folder: Path
    plan: Plan
    state: dict[str, Any]
    runs: list[str | None]

    @property
    def id(self) -> str:
        return self.folder.name

    @property
    def done(self) -> int:
        return sum(run is not None for run in self.runs)

    def check(self, metric: str, outputs: Path) -> None:
        """Refuse a metric that the first of its runs does not have."""
        store = RunStore(outputs)
        first = next((run for run in self.runs if run is not None), None)
        if first is not None:
            record = store.find(first)
            check_metric(metric, record.outcome, record.metrics)


def read_all(outputs: Path) -> tuple[list[Swept], list[str]]:
    """Every sweep, the newest first, and a line for each that cannot be read."""
    found, problems = [], []
    for path in outputs.glob("sweeps/*/sweep.json"):
        try:
            found.append(Swept(path.parent, *read_sweep(path.parent)))
        except (OSError, ValueError, KeyError, TypeError) as error:
            problems.append(f"the sweep {path.parent.name} cannot be read: {error}")
    return sorted(found, key=lambda swept: -swept.state["started"]), problems


def find(outputs: Path, name: str) -> Swept:
    """A sweep by its id or the beginning of it, with or without the word `sweep-`."""
    known = sorted(path.parent.name for path in outputs.glob("sweeps/*/sweep.json"))
    digits = name.removeprefix("sweep-")
    fits = [sweep for sweep in known if digits and sweep.removeprefix("sweep-").startswith(digits)]
    if len(fits) != 1:
        if fits:
            raise BadInput(f"'{name}' fits {len(fits)} sweeps: {', '.join(fits[:4])}")
        there = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
        raise BadInput(
            f"there is no sweep '{name}' below {outputs / 'sweeps'}{meant(name, known)};"
            f" there are: {there or 'none'}"
        )
    folder = outputs / "sweeps" / fits[0]
    try:
        return Swept(folder, *read_sweep(folder))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"the sweep {folder.name} cannot be read: {error}") from error


def cells(swept: Swept, outputs: Path, metric: str | None = None) -> "tuple[Plan, pd.DataFrame]":
    """The plan with this metric, and the table of cells with it: an expression is evaluated."""
    plan = replace(swept.plan, metric=metric or swept.plan.metric)
    table = _table(swept)
    if table is not None and (metric is None or metric in metric_names(table, plan)):
        return plan, table
    rows = Rows(len(plan))
    for index, path in enumerate(RunStore(outputs).located(swept.runs)):
        if path is not None:
            rows.add(index, told(path, metric), metric)
    if rows.problem or not rows:
        raise BadInput(f"metric={rows.problem}" if rows.problem else f"{swept.id} has no runs yet")
    return plan, long_table(plan, rows)


def _table(swept: Swept) -> "pd.DataFrame | None":
    """The table of cells that lies beside a sweep, if it is this sweep's."""
    try:
        table = read_cells(swept.folder)
    except (OSError, ValueError):
        return None
    return table if {*swept.plan.swept} <= {*table.columns} and len(table) else None


def check_metric(metric: str, outcome: Outcome, scalars: Mapping[str, Scalar]) -> None:
    """Refuse a metric that a run does not have; what there is may be meant."""
    if metric in scalars:
        return
    try:
        evaluated(metric, outcome)
    except BadExpression as problem:
        raise BadInput(f"metric={problem}") from None


def pivot(plan: Plan, table: "pd.DataFrame") -> tuple[list[str], list[list[str]]]:
    """Columns and rows for people: the swept knobs, runs, mean ± s.e., the least and the most.

    None where no cell has a single number: `NUMBERLESS` says what helps.
    """
    if not metric_names(table, plan):
        return [], []
    metric = headline(plan, table)
    means = pivot_table(plan, table)
    values = means[f"{metric} mean"].tolist()
    known = [value for value in values if not math.isnan(value)]
    rows = []
    for place, value in enumerate(values):
        marks = "".join(
            mark
            for mark, best in ((" ▼", min(known, default=None)), (" ▲", max(known, default=None)))
            if len(set(known)) > 1 and value == best
        )
        knobs = [str(means[knob].iloc[place]) for knob in plan.knobs]
        error = float(means[f"{metric} s.e."].iloc[place])
        told = mean_and_error(value, error) if not math.isnan(value) else "–"
        rows.append([*knobs, str(means["runs"].iloc[place]), f"{told}{marks}"])
    return [*(knob.removeprefix("study.") for knob in plan.knobs), "runs", metric], rows
