"""`bythebook diff`: compare the settings, numbers and verdicts of two runs."""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape

from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK
from bythebook.experiments.config.paths import resolve_output_dir
from bythebook.experiments.config.result_names import find_result
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Quantity, diff_outcomes
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.sweeps.robustness import claim_keys

Rows = list[list[str]]  # name, first run, second run
MISSING = "missing"


def main(options: argparse.Namespace) -> int:
    """Print the differences between two runs."""
    outputs = resolve_output_dir(options.outputs)
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
            escaped = [[escape(cell) for cell in row] for row in rows]
            console.table(["", first.id, second.id], escaped)
    if not any(parts.values()):
        console.out.print(f"{first.id} and {second.id} are identical")
    return OK


def _record(outputs: Path, name: str) -> Record:
    """A run by its id or the beginning of it, or the newest run of a result."""
    store = RunStore(outputs)
    result = find_result(name)
    if result is not None:
        record = store.latest_run(result)
        if record is None:
            raise InputError(f"{result} has no recorded run; run `bythebook run {result}` first")
        return record
    return store.find(name.removeprefix("run:"))


def settings(first: Record, second: Record) -> Rows:
    """The differences in study, knobs, seed, data, code and package versions."""
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
    """The differing quantities; for arrays, the number of elements and the largest difference."""
    a, b = first.outcome, second.outcome
    differing = diff_outcomes(a, b)
    known = {*a, *b}
    rows = [[name, *_format_sides(a.get(name), b.get(name))] for name in differing if name in known]
    for axis in (name.removeprefix("axis ") for name in differing if name not in known):
        rows.append([f"axis {axis}", a.axes[axis].format(), b.axes[axis].format()])
    return rows


def _format_sides(a: Quantity | None, b: Quantity | None) -> tuple[str, str]:
    if a is None or b is None or not a.axes or not b.axes:
        return _format_value(a), _format_value(b)
    comparable = a.values.shape == b.values.shape and a.values.dtype.kind in b.values.dtype.kind
    if not comparable:
        return _format_value(a), _format_value(b)
    differing = ~((a.values == b.values) | (_is_nan(a.values) & _is_nan(b.values)))
    elements = f"{int(differing.sum())} of {a.values.size} elements"
    if a.values.dtype.kind not in "fi" or not differing.any():
        return _format_value(a), f"differs in {elements}"
    largest = np.abs(a.values[differing].astype(float) - b.values[differing].astype(float)).max()
    return _format_value(a), f"differs in {elements}, by at most {largest:.3g}"


def _is_nan(values: Any) -> Any:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)


def _format_value(quantity: Quantity | None) -> str:
    if quantity is None:
        return MISSING
    if quantity.axes:
        return " x ".join(f"{len(axis)} {axis.name}" for axis in quantity.axes)
    return f"{quantity.item:.10g}" if isinstance(quantity.item, float) else str(quantity.item)


def verdicts(first: Record, second: Record) -> Rows:
    """The claims with other verdicts or other numbers; a claim is identified by its key."""
    texts = {**_texts_by_key(second), **_texts_by_key(first)}
    rows = _differing(_verdicts_by_key(first), _verdicts_by_key(second))
    return [[texts[key], *sides] for key, *sides in rows]


def _texts_by_key(record: Record) -> dict[str, str]:
    says = [verdict["says"] for verdict in record.verdicts]
    return dict(zip(claim_keys(record.verdicts), says, strict=True))


def _verdicts_by_key(record: Record) -> dict[str, str]:
    outcomes = [f"{v['standing']}: {v['evidence'] or v['computed']}" for v in record.verdicts]
    return dict(zip(claim_keys(record.verdicts), outcomes, strict=True))


def _differing(first: dict[str, str], second: dict[str, str]) -> Rows:
    return [
        [name, first.get(name, MISSING), second.get(name, MISSING)]
        for name in dict.fromkeys([*first, *second])
        if first.get(name) != second.get(name)
    ]
