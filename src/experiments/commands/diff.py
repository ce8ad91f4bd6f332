"""`bythebook diff`: in which settings, numbers and verdicts two runs differ."""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape

from experiments.commands import console
from experiments.commands.codes import OK
from experiments.configuration import catalogue
from experiments.configuration.paths import outputs_folder
from experiments.contract.errors import BadInput
from experiments.contract.outcome import Quantity, differences
from experiments.records.record import Record
from experiments.records.store import RunStore

Rows = list[list[str]]


def main(options: argparse.Namespace) -> int:
    """What is the same in both is not shown."""
    outputs = outputs_folder(options.outputs)
    first, second = (_record(outputs, name) for name in (options.first, options.second))
    parts = {
        "settings": settings(first, second),
        "quantities": quantities(first, second),
        "verdicts": verdicts(first, second),
    }
    if options.json:
        labels = ("what", "first", "second")
        named = {k: [dict(zip(labels, row, strict=True)) for row in v] for k, v in parts.items()}
        content = {"first": first.id, "second": second.id, **named}
        print(json.dumps(content, indent=1, ensure_ascii=False))
        return OK
    for title, rows in parts.items():
        if rows:
            console.out.print(f"[bold]{title}[/bold]")
            shown = [[escape(cell) for cell in row] for row in rows]
            console.table(["", first.id, second.id], shown)
    if not any(parts.values()):
        console.out.print(f"{first.id} and {second.id} are the same in all that was recorded")
    return OK


def _record(outputs: Path, name: str) -> Record:
    """A run by its id or the beginning of it, or the newest of a result."""
    store = RunStore(outputs)
    if name in catalogue.names():
        record = store.latest(name)
        if record is None:
            raise BadInput(f"{name} has no recorded run; `bythebook reproduce {name}` makes one")
        return record
    return store.find(name.removeprefix("run:"))


def settings(first: Record, second: Record) -> Rows:
    """Study, knobs, seed, data and code."""
    return _differing(_settings(first), _settings(second))


def _settings(record: Record) -> dict[str, str]:
    science, facts = record["science"], record["provenance"]
    data = {f"data {name}": entry["sha256"][:12] for name, entry in facts["data"].items()}
    knobs = {
        name: json.dumps(value, ensure_ascii=False) for name, value in science["knobs"].items()
    }
    versions = {f"version {name}": value for name, value in facts["packages"].items()}
    known = {"result": str(record["experiment"] or ""), "study": science["study"], **knobs}
    return {**known, "seed": str(science["seed"]), **data, "code": facts["code"], **versions}


def quantities(first: Record, second: Record) -> Rows:
    """Numbers side by side; of arrays in how many places they differ, and by how much at most."""
    a, b = first.outcome, second.outcome
    found = differences(a, b)
    rows = [[name, *_told(a.get(name), b.get(name))] for name in found if name in {*a, *b}]
    for axis in (name.removeprefix("axis ") for name in found if name not in {*a, *b}):
        rows.append([f"axis {axis}", a.axes[axis].told(), b.axes[axis].told()])
    return rows


def _told(a: Quantity | None, b: Quantity | None) -> tuple[str, str]:
    if a is None or b is None or not a.axes or not b.axes:
        return _shown(a), _shown(b)
    comparable = a.values.shape == b.values.shape and a.values.dtype.kind in b.values.dtype.kind
    if not comparable:
        return _shown(a), _shown(b)
    differing = ~((a.values == b.values) | (_gap(a.values) & _gap(b.values)))
    places = f"{int(differing.sum())} of {a.values.size} places"
    if a.values.dtype.kind not in "fi" or not differing.any():
        return _shown(a), f"differs in {places}"
    most = np.abs(a.values[differing].astype(float) - b.values[differing].astype(float)).max()
    return _shown(a), f"differs in {places}, by {most:.3g} at most"


def _gap(values: Any) -> Any:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)


def _shown(quantity: Quantity | None) -> str:
    if quantity is None:
        return "not there"
    if quantity.axes:
        return " x ".join(f"{len(axis)} {axis.name}" for axis in quantity.axes)
    return f"{quantity.item:.10g}" if isinstance(quantity.item, float) else str(quantity.item)


def verdicts(first: Record, second: Record) -> Rows:
    """Claims that came out otherwise, or with other numbers."""
    return _differing(_judged(first), _judged(second))


def _judged(record: Record) -> dict[str, str]:
    return {
        v["says"]: f"{v['standing']}: {v['evidence'] or v['computed']}" for v in record.verdicts
    }


def _differing(first: dict[str, str], second: dict[str, str]) -> Rows:
    return [
        [name, first.get(name, "not there"), second.get(name, "not there")]
        for name in dict.fromkeys([*first, *second])
        if first.get(name) != second.get(name)
    ]
