"""Runs as rows: what a table of them shows, sorts and filters by.

A million runs are looked at one by one, in whatever order they come: of each only what columns
need to know is kept, and of the foremost, which are shown, what is told of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

from experiments.contract.errors import BadInput
from experiments.contract.expressions import evaluate, names
from experiments.contract.labelled import BadExpression
from experiments.contract.outcome import Quantity
from experiments.contract.suggestions import meant
from experiments.contract.verdicts import in_words
from experiments.records import tags
from experiments.records.reading import read
from experiments.records.record import FAILED, FINISHED
from experiments.records.selected import Seen, Selected
from experiments.records.told import Told

FACTS = (
    *("run", "started", "seconds", "result", "study"),
    *("seed", "status", "verdict", "grade", "tags"),
)
SIDE_BY_SIDE = 4  # knobs and metrics that a table shows of its own accord


class Facts(Mapping[str, Any]):
    """What every run has, each made when it is asked for: a verdict takes a look at the record."""

    __slots__ = ("_has_folder", "_place", "_told", "_verdict")

    def __init__(self, told: Mapping[str, Any], place: Path, *, has_folder: bool) -> None:
        self._told, self._place, self._has_folder = told, place, has_folder
        self._verdict: str | None = None

    def __getitem__(self, name: str) -> Any:
        told = self._told
        match name:
            case "run":
                return told["id"]
            case "started":
                return datetime.fromtimestamp(told["started"], UTC).strftime("%Y-%m-%d %H:%M:%S")
            case "seconds":
                return round(told["seconds"], 4)
            case "result":
                return told["experiment"] if told["canonical"] else ""
            case "status":
                return FINISHED if told["finished"] else FAILED
            case "verdict":
                return self._judged()
            case "tags":
                return ", ".join(f"{name}={value}" for name, value in self.tags.items())
            case "study" | "seed" | "grade":
                return told[name]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in FACTS

    def __iter__(self) -> Iterator[str]:
        return iter(FACTS)

    def __len__(self) -> int:
        return len(FACTS)

    @property
    def tags(self) -> dict[str, str]:
        return tags.read(self._place / self._told["id"]) if self._has_folder else {}

    def _judged(self) -> str:
        """The verdicts in a few words, judged from the record now."""
        if self._verdict is None:
            told = self._told
            judged = told["claims"] and told["finished"]
            self._verdict = in_words(read(self._place / told["id"]).verdicts) if judged else ""
        return self._verdict


@dataclass(slots=True)
class Row:
    """One run: facts, knobs and metrics, each by name."""

    facts: Mapping[str, Any]
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


def second(started: float) -> int:
    """The second in which a run started: it is shown no more exactly, and sorted by what is shown.

    Its microseconds are rounded, as `datetime` does.
    """
    whole = int(started)
    return whole + (round((started - whole) * 1e6) >= 10**6)


def row(run: Told, folder: Path) -> Row:
    """What a table shows of a run."""
    return _row(Seen(0, folder.parent, folder.name, vars(run)))


def _row(seen: Seen) -> Row:
    if seen.problem:
        raise BadInput(seen.problem)
    told = seen.fields
    facts = Facts(told, seen.place, has_folder=seen.has_folder)
    return Row(facts, told["knobs"], told["metrics"])


class Condition:
    """An expression over facts, knobs and metrics."""

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self.names = names(text)
        except BadExpression as error:
            raise BadInput(f"--where {error}") from None

    def values(self, entry: Row) -> dict[str, Any] | None:
        """What it speaks of; None where a run has not all of it."""
        if not self.names <= {*entry.facts, *entry.knobs, *entry.metrics}:
            return None
        found = {name: entry[name] for name in self.names}
        plain = all(isinstance(value, bool | int | float | str) for value in found.values())
        return found if plain else None

    def holds(self, values: Mapping[str, Any]) -> bool:
        try:
            found = evaluate(self.text, {name: Quantity(v, ()) for name, v in values.items()})
        except BadExpression as error:
            raise BadInput(f"--where {error}") from None
        if not isinstance(found, bool):
            raise BadInput(f"--where {self.text} is not true or false; allowed: a comparison")
        return found


class Foremost:
    """The first so many of entries that come in any order, or all of them.

    They go by their keys, and equal keys by rank; those without a key come last.
    """

    def __init__(self, most: int | None, *, reverse: bool) -> None:
        self._most, self._reverse = most, reverse
        self._keyed: list[tuple[Any, int, Row | None]] = []
        self._rest: list[tuple[None, int, Row | None]] = []
        self._last: tuple[Any, int] | None = None  # nothing behind it is among them

    def add(self, key: Any, rank: int, entry: Row | None = None) -> None:
        if self.is_behind(key, rank):
            return
        if key is None:
            self._rest.append((None, rank, entry))
        else:
            self._keyed.append((key, rank, entry))
        most = self._most
        if most is not None and len(self) >= 2 * most:
            self._cut(most)

    def is_behind(self, key: Any, rank: int) -> bool:
        """Is it certain that an entry would not be among the first?"""
        if self._last is None or key is None:
            return self._last is not None
        last, last_rank = self._last
        if key == last:
            return rank > last_rank
        return bool((key < last) if self._reverse else (key > last))

    def __len__(self) -> int:
        return len(self._keyed) + len(self._rest)

    def _sort(self) -> None:
        self._keyed.sort(key=itemgetter(1))
        self._keyed.sort(key=itemgetter(0), reverse=self._reverse)
        self._rest.sort(key=itemgetter(1))

    def _cut(self, most: int) -> None:
        self._sort()
        del self._keyed[most:]
        del self._rest[most - len(self._keyed) :]
        if len(self._keyed) == most:
            self._last = self._keyed[-1][:2]

    def ordered(self) -> list[tuple[Any, int, Row | None]]:
        """Key, rank and row of each."""
        self._sort()
        return [*self._keyed, *self._rest][: self._most]


class _Shape:
    """The runs that have the same knobs and metrics by name."""

    def __init__(self, knobs: dict[str, Any], *, reverse: bool) -> None:
        self.foremost = Foremost(1, reverse=reverse)
        self.values = {name: repr(value) for name, value in knobs.items()}  # of the first seen
        self.varying: set[str] = set()
        self._last = knobs

    def add(self, key: Any, rank: int, knobs: dict[str, Any]) -> None:
        self.foremost.add(key, rank)
        if knobs is not self._last:  # as it is for all runs of a group
            for name, value in knobs.items():
                if name not in self.varying and repr(value) != self.values[name]:
                    self.varying.add(name)
            self._last = knobs


_Names = tuple[tuple[str, ...], tuple[str, ...]]  # of knobs and of metrics


class Listing:
    """Runs, seen one after another: the foremost of them, and what a table of all would show."""

    def __init__(
        self,
        *,
        by: str = "started",
        reverse: bool = True,
        most: int | None = None,
        condition: Condition | None = None,
    ) -> None:
        self.by, self.reverse, self.condition = by, reverse, condition
        self.count = 0
        self._keeps_rows = most is not None
        self._foremost = Foremost(most, reverse=reverse)
        self._known: set[_Names] = set()  # of all runs, the condition aside
        self._shapes: dict[_Names, _Shape] = {}
        self._studies: set[str] = set()
        self._empty = {*FACTS}  # facts that no run has
        self._problems: list[tuple[int, str]] = []
        self._slips: list[tuple[int, BadInput]] = []  # the first run that the condition fails on
        self._goes_by_time = by == "started" and condition is None
        self._former: tuple[Row, Foremost] | None = None  # the last run, and those of its shape

    def add(self, seen: Seen) -> None:
        if self._goes_by_time and not seen.problem and self._is_like_the_former(seen):
            self.count += 1
            return
        rank = seen.rank
        try:
            entry = _row(seen)
            if seen.is_alone:
                _ = entry["verdict"]  # a damaged record is passed over
            values = self.condition.values(entry) if self.condition else {}
            key = self._key(entry, seen)
            here = {name for name in self._empty if entry.facts[name] not in ("", None)}
        except BadInput as error:
            self._problems.append((rank, str(error)))
            return
        shape = tuple(entry.knobs), tuple(entry.metrics)
        self._known.add(shape)
        if values is None or not self._holds(values, rank):
            return
        self.count += 1
        self._empty -= here
        self._studies.add(entry.facts["study"])
        if shape not in self._shapes:
            self._shapes[shape] = _Shape(entry.knobs, reverse=self.reverse)
        self._shapes[shape].add(key, rank, entry.knobs)
        self._foremost.add(key, rank, entry if self._keeps_rows or seen.is_alone else None)
        self._former = entry, self._shapes[shape].foremost

    def _is_like_the_former(self, seen: Seen) -> bool:
        """Is a run to be counted and no more: one of a group that has been seen, and behind?"""
        if self._former is None or seen.has_folder:
            return False
        told, (entry, foremost) = seen.fields, self._former
        if told["knobs"] is not entry.knobs or told["metrics"] is not entry.metrics:
            return False
        if told["claims"] or told["canonical"] or told["study"] not in self._studies:
            return False
        key, rank = second(told["started"]), seen.rank
        return self._foremost.is_behind(key, rank) and foremost.is_behind(key, rank)

    def _key(self, entry: Row, seen: Seen) -> Any:
        if self.by == "started":  # the order of its text
            return second(seen.fields["started"])
        return _sortable(entry[self.by])

    def _holds(self, values: Mapping[str, Any], rank: int) -> bool:
        if self.condition is None:
            return True
        try:
            return self.condition.holds(values)
        except BadInput as slip:
            self._slips = [min([*self._slips, (rank, slip)], key=itemgetter(0))]
            return False

    @property
    def kept(self) -> int:
        """How many runs are kept in mind."""
        return len(self._foremost)

    def check(self, tell: Callable[[str], None]) -> None:
        """Tell of runs that cannot be read, and refuse names that none has."""
        for _, line in sorted(self._problems):
            tell(line)
        for _, slip in self._slips:
            raise slip
        if self.condition is not None and self._known:
            known = {*FACTS, *(name for shape in self._known for part in shape for name in part)}
            for name in sorted(self.condition.names - known):
                text = self.condition.text
                raise BadInput(f"--where {text}: no run has '{name}'{meant(name, known)}")
        if self.count and self.by not in self.names():
            raise BadInput(f"--sort {self.by}: no run has it{meant(self.by, self.names())}")

    def _in_order(self) -> list[_Names]:
        """Which names runs have, in the order of the runs."""
        order = Foremost(None, reverse=self.reverse)
        by_rank = {}
        for names_, shape in self._shapes.items():
            key, rank, _ = shape.foremost.ordered()[0]
            order.add(key, rank)
            by_rank[rank] = names_
        return [by_rank[rank] for _, rank, _ in order.ordered()]

    def names(self) -> list[str]:
        """Every name that a run has."""
        found = [(*FACTS, *knobs, *metrics) for knobs, metrics in self._in_order()]
        return list(dict.fromkeys(name for part in found for name in part))

    def columns(self, stated: Sequence[str] | None) -> list[str]:
        """What to show: what was asked for, or what tells these runs apart and their metrics."""
        if stated is not None:
            known = {*self.names(), *FACTS}
            for name in stated:
                if self.count and name not in known:
                    raise BadInput(f"--columns {name}: no run has it{meant(name, self.names())}")
            return list(stated)
        own = self._own() if len(self._studies) == 1 else []
        facts = ["run", "started", "result", "study", "seed", *own, "status", "verdict", "tags"]
        return [name for name in facts if name in own or name not in self._empty]

    def _own(self) -> list[str]:
        """The first knobs that vary, and the first metrics."""
        shapes = self._in_order()
        knobs = dict.fromkeys(name for of, _ in shapes for name in of)
        metrics = dict.fromkeys(name for _, of in shapes for name in of)
        varying = [name for name in knobs if self._varies(name)]
        return [*varying[:SIDE_BY_SIDE], *[*metrics][:SIDE_BY_SIDE]]

    def _varies(self, name: str) -> bool:
        shapes = self._shapes.values()
        values = {shape.values.get(name, repr(None)) for shape in shapes}
        return len(values) > 1 or any(name in shape.varying for shape in shapes)

    def rows(self, selected: Selected, tell: Callable[[str], None]) -> Iterator[Row]:
        """The foremost, in their order."""
        listed = self._foremost.ordered()
        later = selected.fields(rank for _, rank, entry in listed if entry is None)
        for _, _, entry in listed:
            try:
                found = entry if entry is not None else _row(next(later))
                _ = found["verdict"]
            except BadInput as error:  # damaged since it was seen
                tell(str(error))
            else:
                yield found


def _sortable(value: Any) -> tuple[bool, float, str] | None:
    if isinstance(value, str):
        return True, 0.0, value
    if isinstance(value, bool | int | float) and value == value:
        return False, float(value), ""
    return None
