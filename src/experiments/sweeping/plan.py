"""A sweep's plan: which cells it has, what they are called, and what their runs came to."""

import hashlib
import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from experiments.configuration.jobs import Job
from experiments.configuration.passwords import redacted
from experiments.contract.exact_json import dumps
from experiments.records.told import Told


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
    swept: dict[str, list[str]]  # knob -> its value in each cell
    keys: list[str] = field(default_factory=list)  # of each cell's runs

    @classmethod
    def of(cls, cells: Sequence[Cell], overrides: Sequence[str], metric: str | None) -> "Plan":
        """Look at every cell once, and keep of it what the record needs."""
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
            f" over {', '.join(short(knob) for knob in swept)}",
            overrides=[redacted(override) for override in overrides],
            metric=metric,
            swept=swept,
            keys=keys,
        )

    def problems(self) -> Iterator[str]:
        """What a recorded plan may not be, whoever wrote it."""
        named = (self.id, self.study, self.title, self.metric or "")
        if not all(isinstance(name, str) for name in named):
            yield "its names are no text"
            return
        swept: Any = self.swept
        if not isinstance(swept, dict):
            yield "it sweeps nothing that has a name"
            return
        listed = (self.overrides, self.keys, *swept.values())
        if not all(isinstance(texts, list) for texts in listed):
            yield "its cells are no lists"
        elif not all(isinstance(text, str) for texts in listed for text in texts):
            yield "its cells are no text"
        elif len({len(self), *map(len, self.swept.values())}) > 1:
            yield "its cells are not all there"
        elif not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", self.study):
            yield f"'{self.study[:40]}' is no study's name"

    def __len__(self) -> int:
        # A sweep of one cell may sweep nothing, and old plans have no keys.
        return len(self.keys) or max(map(len, self.swept.values()), default=0)

    @property
    def knobs(self) -> list[str]:
        """The swept knobs other than the seed, over which results are averaged."""
        return [knob for knob in self.swept if knob != "seed"]

    def label(self, index: int) -> str:
        return ", ".join(f"{short(knob)}={values[index]}" for knob, values in self.swept.items())


def _digest(swept: dict[str, list[str]], keys: list[str]) -> str:
    """Of what the cells are: their values and keys in JSON, a cell at a time."""
    digest = hashlib.sha256()
    for index, key in enumerate(keys):
        values = {knob: column[index] for knob, column in swept.items()}
        digest.update(f"{', ' if index else '['}{dumps([values, key])}".encode())
    digest.update(b"]")
    return digest.hexdigest()[:16]


class Shape(NamedTuple):
    """The names and types of a cell's metrics, which many cells share."""

    names: tuple[str, ...]
    types: tuple[type, ...]


class Rows:
    """What the tables need of the cells' records, eight bytes a number; the rest stays on disk."""

    def __init__(self, cells: int) -> None:
        self.runs: list[str | None] = [None] * cells
        self.errors: dict[int, str] = {}  # type and message of what went wrong
        self.problem = ""  # why the metric that was asked for cannot be had
        self._cells: list[tuple[Shape, array[float]] | None] = [None] * cells
        self._shapes: dict[Shape, Shape] = {}

    def add(self, index: int, told: Told, metric: str | None = None) -> None:
        """Keep its scalars, and the value of an expression that somebody wants to see."""
        if told.error:
            self.errors[index] = f"{told.error['type']}: {told.error['message']}"
        asked = {k: v for k, v in told.asked.items() if k == metric}
        self.problem = told.problem or self.problem
        metrics = {**asked, **told.metrics}
        self.put(index, told.id, {k: v for k, v in metrics.items() if not isinstance(v, str)})

    def put(self, index: int, run: str, metrics: dict[str, Any]) -> None:
        shape = Shape(tuple(metrics), tuple(type(value) for value in metrics.values()))
        shape = self._shapes.setdefault(shape, shape)
        self.runs[index] = run
        self._cells[index] = shape, array("d", [_float(value) for value in metrics.values()])

    def __len__(self) -> int:
        return sum(run is not None for run in self.runs)

    @property
    def places(self) -> list[int]:
        """The cells that have a run, in their order."""
        return [index for index, run in enumerate(self.runs) if run is not None]

    def metrics(self, index: int) -> Iterator[tuple[str, float | int | bool]]:
        cell = self._cells[index]
        if cell is not None:
            for name, kind, value in zip(*cell[0], cell[1], strict=True):
                yield name, kind(value) if math.isfinite(value) else value

    def names(self, most: int | None = None) -> list[str]:
        """Every metric, in the order of the cells; of very many those that most cells have."""
        counted = Counter(cell[0] for cell in self._cells if cell is not None)
        cells: Counter[str] = Counter()
        for shape, count in counted.items():
            cells.update(dict.fromkeys(shape.names, count))
        if most is None or len(cells) <= most:
            return list(cells)
        kept = {name for name, _ in cells.most_common(most)}
        return [name for name in cells if name in kept]


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def short(knob: str) -> str:
    """A knob as figures and names have it."""
    return knob.removeprefix("study.")


def columns(cells: Iterable[dict[str, str]]) -> dict[str, list[str]]:
    """What was swept by knob, from what was swept by cell."""
    found: dict[str, list[str]] = {}
    for cell in cells:
        for knob, value in cell.items():
            found.setdefault(knob, []).append(value)
    return found
