"""A sweep's plan: which cells it has, what they are called, and what a cell's run came to."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from experiments.jobs import Job
from experiments.outcome import dumps
from experiments.provenance import redacted
from experiments.records import Record


@dataclass(frozen=True)
class Cell:
    """One point of a sweep's grid."""

    swept: dict[str, str]  # knob -> value, as typed
    job: Job


@dataclass(frozen=True)
class Plan:
    """A sweep as recorded: what its cells are, without what it takes to run them."""

    id: str
    study: str
    title: str
    overrides: list[str]
    metric: str | None  # the quantity of the figure; the study's first by default
    swept: list[dict[str, str]]  # of each cell
    keys: list[str] = field(default_factory=list)  # of each cell's runs

    @classmethod
    def of(cls, cells: Sequence[Cell], overrides: Sequence[str], metric: str | None) -> "Plan":
        keys = dumps([[cell.swept, cell.job.key] for cell in cells])
        studies = list(dict.fromkeys(cell.job.study.name for cell in cells))
        items = list(dict.fromkeys(cell.job.title for cell in cells))
        knobs = [short(knob) for knob in cells[0].swept]
        return cls(
            id="sweep-" + hashlib.sha256(keys.encode()).hexdigest()[:16],
            study=studies[0] if len(studies) == 1 else "sweeps",
            title=f"{items[0] if len(items) == 1 else 'several'} over {', '.join(knobs)}",
            overrides=[redacted(override) for override in overrides],
            metric=metric,
            swept=[cell.swept for cell in cells],
            keys=[cell.job.key for cell in cells],
        )

    @property
    def knobs(self) -> list[str]:
        """The swept knobs other than the seed, over which results are averaged."""
        return [knob for knob in self.swept[0] if knob != "seed"]

    def label(self, index: int) -> str:
        return ", ".join(f"{short(knob)}={value}" for knob, value in self.swept[index].items())


class Row(NamedTuple):
    """What the tables need of a cell's record; the records themselves stay on disk."""

    run: str
    error: str | None  # type and message of what went wrong
    metrics: dict[str, Any]

    @classmethod
    def of(cls, record: Record) -> "Row":
        error = record["error"]
        metrics = record["outcome"]["metrics"]
        return cls(
            record.id,
            f"{error['type']}: {error['message']}" if error else None,
            {name: value for name, value in metrics.items() if not isinstance(value, str)},
        )


Rows = dict[int, Row]


def short(knob: str) -> str:
    """A knob as figures and names have it."""
    return knob.removeprefix("study.")
