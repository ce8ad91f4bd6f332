"""Runs as rows: what a table of them shows, sorts and filters by."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from experiments.contract.errors import BadInput
from experiments.contract.expressions import evaluate, names
from experiments.contract.labelled import BadExpression
from experiments.contract.outcome import Quantity
from experiments.contract.suggestions import meant
from experiments.records import tags
from experiments.records.reading import told, verdict
from experiments.records.record import FAILED, FINISHED
from experiments.records.told import Told

FACTS = (
    *("run", "started", "seconds", "result", "study"),
    *("seed", "status", "verdict", "grade", "tags"),
)
SIDE_BY_SIDE = 4  # knobs and metrics that a table shows of its own accord


@dataclass(frozen=True)
class Row:
    """One run: facts, knobs and metrics, each by name."""

    facts: dict[str, Any]
    knobs: dict[str, Any]
    metrics: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        for part in (self.facts, self.knobs, self.metrics):
            if name in part:
                return part[name]
        return None

    def __iter__(self) -> Iterator[str]:
        yield from {**self.facts, **self.knobs, **self.metrics}

    def content(self) -> dict[str, Any]:
        return {**self.metrics, **self.knobs, **self.facts}


def row(run: Told, folder: Path) -> Row:
    """What a table shows of a run."""
    own = tags.read(folder)
    return Row(
        {
            "run": run.id,
            "started": datetime.fromtimestamp(run.started, UTC).strftime("%Y-%m-%d %H:%M:%S"),
            "seconds": round(run.seconds, 4),
            "result": run.experiment if run.canonical else "",
            "study": run.study,
            "seed": run.seed,
            "status": FINISHED if run.finished else FAILED,
            "verdict": verdict(run, folder),
            "grade": run.grade,
            "tags": ", ".join(f"{name}={value}" for name, value in own.items()),
        },
        dict(run.knobs),
        dict(run.metrics),
    )


def rows(folders: Iterable[Path], tell: Callable[[str], None]) -> Iterator[Row]:
    """The runs that can be read; a damaged one costs a line."""
    for folder in folders:
        try:
            yield row(told(folder), folder)
        except BadInput as error:
            tell(str(error))


def where(found: Sequence[Row], condition: str) -> list[Row]:
    """The rows for which an expression over facts, knobs and metrics is true.

    A row that has not all that it speaks of is left out; where none has it, that is a slip.
    """
    try:
        wanted = names(condition)
    except BadExpression as error:
        raise BadInput(f"--where {error}") from None
    known = {name for entry in found for name in entry}
    for name in sorted(wanted - known) if found else ():
        raise BadInput(f"--where {condition}: no run has '{name}'{meant(name, known)}")
    return [entry for entry in found if wanted <= set(entry) and _holds(entry, wanted, condition)]


def _holds(entry: Row, wanted: set[str], condition: str) -> bool:
    values = {name: entry[name] for name in wanted}
    if not all(isinstance(value, bool | int | float | str) for value in values.values()):
        return False
    try:
        found = evaluate(condition, {name: Quantity(v, ()) for name, v in values.items()})
    except BadExpression as error:
        raise BadInput(f"--where {error}") from None
    if not isinstance(found, bool):
        raise BadInput(f"--where {condition} is not true or false; allowed: a comparison")
    return found


def ordered(found: Sequence[Row], by: str, *, reverse: bool) -> list[Row]:
    """Sorted by a fact, a knob or a metric; runs without it come last."""
    known = {name for entry in found for name in entry}
    if found and by not in known:
        raise BadInput(f"--sort {by}: no run has it{meant(by, known)}")
    have = [entry for entry in found if _sortable(entry[by]) is not None]
    rest = [entry for entry in found if _sortable(entry[by]) is None]
    return sorted(have, key=lambda entry: _sortable(entry[by]) or (), reverse=reverse) + rest


def _sortable(value: Any) -> tuple[bool, float, str] | None:
    if isinstance(value, str):
        return True, 0.0, value
    if isinstance(value, bool | int | float) and value == value:
        return False, float(value), ""
    return None


def columns(found: Sequence[Row], stated: Sequence[str] | None) -> list[str]:
    """What to show: what was asked for, or what tells these runs apart and their first metrics."""
    known = dict.fromkeys(name for entry in found for name in entry)
    if stated is not None:
        for name in stated:
            if found and name not in known and name not in FACTS:
                raise BadInput(f"--columns {name}: no run has it{meant(name, known)}")
        return list(stated)
    of_one_study = len({entry["study"] for entry in found}) == 1
    varying = [
        name
        for name in dict.fromkeys(k for entry in found for k in entry.knobs)
        if len({repr(entry.knobs.get(name)) for entry in found}) > 1
    ]
    metrics = list(dict.fromkeys(m for entry in found for m in entry.metrics))
    own = [*varying[:SIDE_BY_SIDE], *metrics[:SIDE_BY_SIDE]] if of_one_study else []
    facts = ["run", "started", "result", "study", "seed", *own, "status", "verdict", "tags"]
    empty = ("", None)
    return [name for name in facts if name in own or any(e[name] not in empty for e in found)]
