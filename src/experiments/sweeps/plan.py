"""The plan of a sweep (its cells and their labels), and the table of their runs' metrics."""

import hashlib
import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bythebook.experiments.config.credentials import redact_credentials
from bythebook.experiments.config.job import Job
from bythebook.experiments.core.exact_json import dumps
from bythebook.experiments.store.run_summary import RunSummary


@dataclass(frozen=True)
class SweepCell:
    """One point of a sweep's grid."""

    swept: dict[str, str]  # from knob to value, as typed
    job: Job


@dataclass(frozen=True)
class SweepPlan:
    """A sweep as recorded: the values and keys of its cells, without their jobs."""

    id: str
    study: str
    title: str
    overrides: list[str]
    metric: str | None  # the metric of the figure; None: the study's first
    swept: dict[str, list[str]]  # from knob to its value in each cell
    keys: list[str] = field(default_factory=list)  # the key of each cell's job

    @classmethod
    def from_cells(
        cls, cells: Sequence[SweepCell], overrides: Sequence[str], metric: str | None
    ) -> "SweepPlan":
        """Create the plan; every cell is read once."""
        swept: dict[str, list[str]] = {knob: [] for knob in cells[0].swept}
        keys: list[str] = []
        studies: dict[str, None] = {}
        items: dict[str, None] = {}
        for cell in cells:
            for knob, value in cell.swept.items():
                swept[knob].append(value)
            keys.append(cell.job.key)
            studies[cell.job.study.name] = items[cell.job.title] = None
        return cls(
            id=f"sweep-{_digest(swept, keys)}",
            study=next(iter(studies)) if len(studies) == 1 else "sweeps",
            title=f"{next(iter(items)) if len(items) == 1 else 'several'}"
            f" over {', '.join(short_name(knob) for knob in swept)}",
            overrides=[redact_credentials(override) for override in overrides],
            metric=metric,
            swept=swept,
            keys=keys,
        )

    def problems(self) -> Iterator[str]:
        """The problems of a plan that was read from a file, which anybody may have edited."""
        names = (self.id, self.study, self.title, self.metric or "")
        if not all(isinstance(name, str) for name in names):
            yield "id, study, title and metric must be text"
            return
        swept: Any = self.swept
        if not isinstance(swept, dict):
            yield "swept must be a mapping"
            return
        columns = (self.overrides, self.keys, *swept.values())
        if not all(isinstance(texts, list) for texts in columns):
            yield "overrides, keys and swept values must be lists"
        elif not all(isinstance(text, str) for texts in columns for text in texts):
            yield "overrides, keys and swept values must be text"
        elif len({len(self), *map(len, self.swept.values())}) > 1:
            yield "the numbers of keys and of swept values differ"
        elif not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", self.study):
            yield f"'{self.study[:40]}' is not the name of a study"

    def __len__(self) -> int:
        # A sweep of one cell may have no swept knob, and old plans have no keys.
        return len(self.keys) or max(map(len, self.swept.values()), default=0)

    @property
    def varied_parameters(self) -> list[str]:
        """The swept knobs without the seed, over which results are averaged."""
        return [knob for knob in self.swept if knob != "seed"]

    def label(self, index: int) -> str:
        """The values of a cell, `folds=3, seed=1`."""
        return ", ".join(
            f"{short_name(knob)}={values[index]}" for knob, values in self.swept.items()
        )


def _digest(swept: dict[str, list[str]], keys: list[str]) -> str:
    """The digest of the cells: their values and keys in JSON, one cell after the other."""
    digest = hashlib.sha256()
    for index, key in enumerate(keys):
        values = {knob: column[index] for knob, column in swept.items()}
        digest.update(f"{', ' if index else '['}{dumps([values, key])}".encode())
    digest.update(b"]")
    return digest.hexdigest()[:16]


class TableShape(NamedTuple):
    """The names and types of a cell's metrics, which many cells share."""

    names: tuple[str, ...]
    types: tuple[type, ...]


class SweepTable:
    """The metrics of the cells' runs, with eight bytes per number; records stay on disk."""

    def __init__(self, cells: int) -> None:
        self.runs: list[str | None] = [None] * cells
        self.errors: dict[int, str] = {}  # type and message of the error
        self.problem = ""  # why the requested metric is not available
        self._cells: list[tuple[TableShape, array[float]] | None] = [None] * cells
        self._shapes: dict[TableShape, TableShape] = {}

    def add(self, index: int, summary: RunSummary, metric: str | None = None) -> None:
        """Store the metrics of a cell's run, and the value of the expression `metric`."""
        if summary.error:
            self.errors[index] = f"{summary.error['type']}: {summary.error['message']}"
        extra = {k: v for k, v in summary.extra_metrics.items() if k == metric}
        self.problem = summary.problem or self.problem
        metrics = {**extra, **summary.metrics}
        numbers = {k: v for k, v in metrics.items() if not isinstance(v, str)}
        self.set_row(index, summary.id, numbers)

    def set_row(self, index: int, run: str, metrics: dict[str, Any]) -> None:
        shape = TableShape(tuple(metrics), tuple(type(value) for value in metrics.values()))
        shape = self._shapes.setdefault(shape, shape)
        self.runs[index] = run
        self._cells[index] = shape, array("d", [_float(value) for value in metrics.values()])

    def __len__(self) -> int:
        return sum(run is not None for run in self.runs)

    @property
    def filled_rows(self) -> list[int]:
        """The indices of the cells that have a run."""
        return [index for index, run in enumerate(self.runs) if run is not None]

    def metrics(self, index: int) -> Iterator[tuple[str, float | int | bool]]:
        cell = self._cells[index]
        if cell is not None:
            for name, kind, value in zip(*cell[0], cell[1], strict=True):
                yield name, kind(value) if math.isfinite(value) else value

    def names(self, max_names: int | None = None) -> list[str]:
        """The metrics in the order of the cells; at most the `max_names` most frequent ones."""
        shapes = Counter(cell[0] for cell in self._cells if cell is not None)
        counts: Counter[str] = Counter()
        for shape, count in shapes.items():
            counts.update(dict.fromkeys(shape.names, count))
        if max_names is None or len(counts) <= max_names:
            return list(counts)
        frequent = {name for name, _ in counts.most_common(max_names)}
        return [name for name in counts if name in frequent]


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def short_name(knob: str) -> str:
    """The name of a knob in figures and labels, without `study.`."""
    return knob.removeprefix("study.")


def columns_from_cells(cells: Iterable[dict[str, str]]) -> dict[str, list[str]]:
    """The swept values by knob, from the swept values by cell."""
    columns: dict[str, list[str]] = {}
    for cell in cells:
        for knob, value in cell.items():
            columns.setdefault(knob, []).append(value)
    return columns
