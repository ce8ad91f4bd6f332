"""Own sweeps beside the books: the printed value that a sweep's figure may be laid over.

A printed number belongs in the figure of a sweep where it is the same quantity: the sweep shows the
claim's expression, is of the same study, and agrees with the printed result in every knob that is
not swept. A sweep over another data set or another model has no printed value, however alike.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.contract.errors import BadInput
from experiments.records.reading import told
from experiments.records.store import RunStore
from experiments.report.content import Result
from experiments.sweeping.figure import Mark, headline, read_cells
from experiments.sweeping.plan import Plan, short
from experiments.sweeping.run import read_sweep
from experiments.sweeping.tables import mean_and_error, pivot_table


@dataclass(frozen=True)
class Beside:
    """A printed value that a sweep is laid over, and what the sweep has at the book's setting."""

    result: Result
    claim: Mapping[str, Any]
    at: dict[str, Any]  # the book's setting of each swept knob
    ours: str  # mean and standard error there; nothing where the sweep has no such cell

    @property
    def place(self) -> str:
        return ", ".join(f"{short(knob)} = {value}" for knob, value in self.at.items())

    @property
    def mark(self) -> Mark:
        label = f"{self.result.item} prints {self.claim['printed']}"
        return Mark(float(self.claim["printed"]), label, self.at)


def printed_values(
    folders: Iterable[Path], found: Sequence[Result], outputs: Path
) -> dict[str, list[Beside]]:
    """For every sweep that has any, by the name of its folder, the printed values to show."""
    values = {}
    for folder in folders:
        try:
            plan, _, cells = read_sweep(folder)
            table = read_cells(folder)
            metric = headline(plan, table)
            claims = _claims(plan, metric, found)
            ran = next((run for run in cells if run is not None), None)
            if not claims or ran is None:
                continue
            (place,) = RunStore(outputs).located([ran])
            if place is None:
                continue
            knobs = told(place).knobs
        except (OSError, ValueError, KeyError, TypeError, IndexError, BadInput):
            continue  # told where the sweep itself is read
        kept = [pair for pair in claims if _agrees(_knobs(pair[0]), knobs, plan)]
        if kept:
            values[folder.name] = [_beside(*pair, plan, metric, table) for pair in kept]
    return values


def _claims(plan: Plan, metric: str, found: Sequence[Result]) -> list[tuple[Result, Any]]:
    return [
        (result, claim)
        for result in found
        if result.record is not None and result.record.study == plan.study
        for claim in result.claims
        if claim["origin"] == "printed"
        and "".join(claim["expression"].split()) == "".join(metric.split())
        and _is_number(claim["printed"])
    ]


def _knobs(result: Result) -> dict[str, Any]:
    assert result.record is not None
    knobs: dict[str, Any] = result.record["science"]["knobs"]
    return knobs


def _agrees(book: Mapping[str, Any], ours: Mapping[str, Any], plan: Plan) -> bool:
    """The same setting of all knobs but the swept ones?"""
    fixed = [name for name in book if f"study.{name}" not in plan.swept]
    return book.keys() == ours.keys() and all(book[name] == ours[name] for name in fixed)


def _beside(result: Result, claim: Any, plan: Plan, metric: str, table: Any) -> Beside:
    book = _knobs(result)
    at = {knob: book.get(short(knob)) for knob in plan.knobs}
    pivot = pivot_table(plan, table)
    for row in pivot.to_dict("records"):
        if all(str(row[knob]) == str(value) for knob, value in at.items()):
            ours = mean_and_error(row[f"{metric} mean"], row[f"{metric} s.e."])
            return Beside(result, claim, at, str(ours))
    return Beside(result, claim, at, "")


def _is_number(printed: str | None) -> bool:
    try:
        return printed is not None and math.isfinite(float(printed))
    except ValueError:
        return False
