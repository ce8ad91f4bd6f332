"""Queries on runs: filtering, sorting and the columns of a table.

The runs are processed one by one in any order. The query stores only the rows that the table
shows, and for all runs the names and values that the choice of columns requires.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

from bythebook.experiments.core.alignment import ExpressionError
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.expressions import evaluate, quantity_names
from bythebook.experiments.core.outcome import Quantity
from bythebook.experiments.core.suggestions import did_you_mean
from bythebook.experiments.core.verdicts import summarise_verdicts
from bythebook.experiments.store import tags
from bythebook.experiments.store.record import FAILED, FINISHED
from bythebook.experiments.store.run_index import IndexedRun, RunIndex
from bythebook.experiments.store.run_reader import read_run
from bythebook.experiments.store.run_summary import RunSummary

RUN_FIELDS = (
    *("run", "started", "seconds", "result", "study"),
    *("seed", "status", "verdict", "grade", "tags"),
)
MAX_DEFAULT_COLUMNS = 4  # of parameters and of metrics, unless columns are requested


class RunFacts(Mapping[str, Any]):
    """The columns that every run has, computed on access: a verdict requires the record."""

    __slots__ = ("_fields", "_has_folder", "_location", "_verdicts")

    def __init__(self, fields: Mapping[str, Any], location: Path, *, has_folder: bool) -> None:
        self._fields, self._location, self._has_folder = fields, location, has_folder
        self._verdicts: str | None = None

    def __getitem__(self, name: str) -> Any:
        fields = self._fields
        match name:
            case "run":
                return fields["id"]
            case "started":
                return datetime.fromtimestamp(fields["started"], UTC).strftime("%Y-%m-%d %H:%M:%S")
            case "seconds":
                return round(fields["seconds"], 4)
            case "result":
                return fields["experiment"] if fields["canonical"] else ""
            case "status":
                return FINISHED if fields["finished"] else FAILED
            case "verdict":
                return self._verdict()
            case "tags":
                return ", ".join(f"{name}={value}" for name, value in self.tags.items())
            case "study" | "seed" | "grade":
                return fields[name]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in RUN_FIELDS

    def __iter__(self) -> Iterator[str]:
        return iter(RUN_FIELDS)

    def __len__(self) -> int:
        return len(RUN_FIELDS)

    @property
    def tags(self) -> dict[str, str]:
        """The tags of the run."""
        return tags.read_tags(self._location / self._fields["id"]) if self._has_folder else {}

    def _verdict(self) -> str:
        """The counts of the verdicts as text, computed from the record."""
        if self._verdicts is None:
            has_verdicts = self._fields["claims"] and self._fields["finished"]
            folder = self._location / self._fields["id"]
            self._verdicts = summarise_verdicts(read_run(folder).verdicts) if has_verdicts else ""
        return self._verdicts


@dataclass(slots=True)
class RunRow:
    """One run: facts, parameters and metrics, each by name."""

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
        """All columns by name."""
        return {**self.metrics, **self.knobs, **self.facts}


def truncate_to_second(started: float) -> int:
    """The time in seconds as a table shows it, with microseconds rounded as in `datetime`.

    Runs are sorted by the times that are shown.
    """
    seconds = int(started)
    return seconds + (round((started - seconds) * 1e6) >= 10**6)


def run_row(run: RunSummary, folder: Path) -> RunRow:
    """The row of one run."""
    return _row(IndexedRun(0, folder.parent, folder.name, vars(run)))


def _row(run: IndexedRun) -> RunRow:
    if run.problem:
        raise InputError(run.problem)
    facts = RunFacts(run.fields, run.location, has_folder=run.has_folder)
    return RunRow(facts, run.fields["knobs"], run.fields["metrics"])


class Condition:
    """A comparison of facts, parameters and metrics, for the option --where."""

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self.names = quantity_names(text)
        except ExpressionError as error:
            raise InputError(f"--where {error}") from None

    def values(self, row: RunRow) -> dict[str, Any] | None:
        """The values of the names in the condition; None if the run lacks one."""
        if not self.names <= {*row.facts, *row.knobs, *row.metrics}:
            return None
        values = {name: row[name] for name in self.names}
        are_scalars = all(isinstance(v, bool | int | float | str) for v in values.values())
        return values if are_scalars else None

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether the condition is true for some values."""
        try:
            result = evaluate(self.text, {name: Quantity(v, ()) for name, v in values.items()})
        except ExpressionError as error:
            raise InputError(f"--where {error}") from None
        if not isinstance(result, bool):
            raise InputError(f"--where {self.text} is not true or false; allowed: a comparison")
        return result


class TopRows:
    """The first `limit` rows in the order of their keys, or all rows, added in any order.

    Equal keys are ordered by rank; rows without a key are last.
    """

    def __init__(self, limit: int | None, *, reverse: bool) -> None:
        self._limit, self._reverse = limit, reverse
        self._keyed: list[tuple[Any, int, RunRow | None]] = []
        self._without_key: list[tuple[None, int, RunRow | None]] = []
        self._last: tuple[Any, int] | None = None  # rows after it are not among the first

    def add(self, key: Any, rank: int, row: RunRow | None = None) -> None:
        """Add a row."""
        if self.is_beyond(key, rank):
            return
        if key is None:
            self._without_key.append((None, rank, row))
        else:
            self._keyed.append((key, rank, row))
        limit = self._limit
        if limit is not None and len(self) >= 2 * limit:
            self._discard(limit)

    def is_beyond(self, key: Any, rank: int) -> bool:
        """Whether a row is certainly not among the first."""
        if self._last is None or key is None:
            return self._last is not None
        last, last_rank = self._last
        if key == last:
            return rank > last_rank
        return bool((key < last) if self._reverse else (key > last))

    def __len__(self) -> int:
        return len(self._keyed) + len(self._without_key)

    def _sort(self) -> None:
        self._keyed.sort(key=itemgetter(1))
        self._keyed.sort(key=itemgetter(0), reverse=self._reverse)
        self._without_key.sort(key=itemgetter(1))

    def _discard(self, limit: int) -> None:
        self._sort()
        del self._keyed[limit:]
        del self._without_key[limit - len(self._keyed) :]
        if len(self._keyed) == limit:
            self._last = self._keyed[-1][:2]

    def sorted_rows(self) -> list[tuple[Any, int, RunRow | None]]:
        """Key, rank and row of each."""
        self._sort()
        return [*self._keyed, *self._without_key][: self._limit]


class _ColumnUse:
    """The names and values of the runs that have the same parameters and metrics."""

    def __init__(self, knobs: dict[str, Any], *, reverse: bool) -> None:
        self.first = TopRows(1, reverse=reverse)
        self.values = {name: repr(value) for name, value in knobs.items()}  # of the first added
        self.varying: set[str] = set()
        self._last = knobs

    def add(self, key: Any, rank: int, knobs: dict[str, Any]) -> None:
        self.first.add(key, rank)
        if knobs is not self._last:  # runs of a group may share one mapping
            for name, value in knobs.items():
                if name not in self.varying and repr(value) != self.values[name]:
                    self.varying.add(name)
            self._last = knobs


_Names = tuple[tuple[str, ...], tuple[str, ...]]  # of parameters and of metrics


class RunQuery:
    """The first runs in some order, and the columns of a table of all runs."""

    def __init__(
        self,
        *,
        by: str = "started",
        reverse: bool = True,
        limit: int | None = None,
        condition: Condition | None = None,
    ) -> None:
        self.by, self.reverse, self.condition = by, reverse, condition
        self.count = 0
        self._keeps_rows = limit is not None
        self._first = TopRows(limit, reverse=reverse)
        self._known: set[_Names] = set()  # of all runs, also those that fail the condition
        self._uses: dict[_Names, _ColumnUse] = {}
        self._studies: set[str] = set()
        self._empty = {*RUN_FIELDS}  # facts that are empty for every run
        self._problems: list[tuple[int, str]] = []
        self._errors: list[tuple[int, InputError]] = []  # of the condition, for the first run
        self._is_by_time = by == "started" and condition is None
        self._previous: tuple[RunRow, TopRows] | None = None  # the last row, and those like it

    def add(self, run: IndexedRun) -> None:
        """Add a run."""
        if self._is_by_time and not run.problem and self._adds_nothing(run):
            self.count += 1
            return
        rank = run.rank
        try:
            row = _row(run)
            if run.is_standalone:
                _ = row["verdict"]  # raises if the record is corrupt
            values = self.condition.values(row) if self.condition else {}
            key = self._key(row, run)
            filled = {name for name in self._empty if row.facts[name] not in ("", None)}
        except InputError as error:
            self._problems.append((rank, str(error)))
            return
        names = tuple(row.knobs), tuple(row.metrics)
        self._known.add(names)
        if values is None or not self._holds(values, rank):
            return
        self.count += 1
        self._empty -= filled
        self._studies.add(row.facts["study"])
        if names not in self._uses:
            self._uses[names] = _ColumnUse(row.knobs, reverse=self.reverse)
        self._uses[names].add(key, rank, row.knobs)
        self._first.add(key, rank, row if self._keeps_rows or run.is_standalone else None)
        self._previous = row, self._uses[names].first

    def _adds_nothing(self, run: IndexedRun) -> bool:
        """Whether a run only has to be counted: like the previous one, and not among the first."""
        if self._previous is None or run.has_folder:
            return False
        fields, (row, first) = run.fields, self._previous
        if fields["knobs"] is not row.knobs or fields["metrics"] is not row.metrics:
            return False
        if fields["claims"] or fields["canonical"] or fields["study"] not in self._studies:
            return False
        key, rank = truncate_to_second(fields["started"]), run.rank
        return self._first.is_beyond(key, rank) and first.is_beyond(key, rank)

    def _key(self, row: RunRow, run: IndexedRun) -> Any:
        if self.by == "started":  # as it is shown
            return truncate_to_second(run.fields["started"])
        return _sortable(row[self.by])

    def _holds(self, values: Mapping[str, Any], rank: int) -> bool:
        if self.condition is None:
            return True
        try:
            return self.condition.holds(values)
        except InputError as error:
            self._errors = [min([*self._errors, (rank, error)], key=itemgetter(0))]
            return False

    @property
    def rows_in_memory(self) -> int:
        """The number of rows that the query holds in memory."""
        return len(self._first)

    def check(self, report: Callable[[str], None]) -> None:
        """Report runs with invalid records, and refuse names that no run has."""
        for _, line in sorted(self._problems):
            report(line)
        for _, error in self._errors:
            raise error
        if self.condition is not None and self._known:
            known = {
                *RUN_FIELDS,
                *(name for names in self._known for part in names for name in part),
            }
            for name in sorted(self.condition.names - known):
                text = self.condition.text
                raise InputError(f"--where {text}: no run has '{name}'{did_you_mean(name, known)}")
        if self.count and self.by not in self.names():
            raise InputError(
                f"--sort {self.by}: no run has '{self.by}'{did_you_mean(self.by, self.names())}"
            )

    def _sorted_names(self) -> list[_Names]:
        """The names of parameters and metrics, in the order of the runs."""
        order = TopRows(None, reverse=self.reverse)
        by_rank = {}
        for names, use in self._uses.items():
            key, rank, _ = use.first.sorted_rows()[0]
            order.add(key, rank)
            by_rank[rank] = names
        return [by_rank[rank] for _, rank, _ in order.sorted_rows()]

    def names(self) -> list[str]:
        """The names of all columns."""
        parts = [(*RUN_FIELDS, *knobs, *metrics) for knobs, metrics in self._sorted_names()]
        return list(dict.fromkeys(name for part in parts for name in part))

    def columns(self, requested: Sequence[str] | None) -> list[str]:
        """The requested columns, else the facts, varying parameters and metrics of the runs."""
        if requested is not None:
            known = {*self.names(), *RUN_FIELDS}
            for name in requested:
                if self.count and name not in known:
                    raise InputError(
                        f"--columns {name}: no run has '{name}'{did_you_mean(name, self.names())}"
                    )
            return list(requested)
        own = self._default_columns() if len(self._studies) == 1 else []
        facts = ["run", "started", "result", "study", "seed", *own, "status", "verdict", "tags"]
        return [name for name in facts if name in own or name not in self._empty]

    def _default_columns(self) -> list[str]:
        """The first varying parameters, and the first metrics."""
        names = self._sorted_names()
        knobs = dict.fromkeys(name for part, _ in names for name in part)
        metrics = dict.fromkeys(name for _, part in names for name in part)
        varying = [name for name in knobs if self._varies(name)]
        return [*varying[:MAX_DEFAULT_COLUMNS], *[*metrics][:MAX_DEFAULT_COLUMNS]]

    def _varies(self, name: str) -> bool:
        uses = self._uses.values()
        values = {use.values.get(name, repr(None)) for use in uses}
        return len(values) > 1 or any(name in use.varying for use in uses)

    def rows(self, index: RunIndex, report: Callable[[str], None]) -> Iterator[RunRow]:
        """The first rows in their order; those that were not stored are read from the index."""
        first = self._first.sorted_rows()
        unread = index.by_rank(rank for _, rank, row in first if row is None)
        for _, _, row in first:
            try:
                complete = row if row is not None else _row(next(unread))
                _ = complete["verdict"]
            except InputError as error:  # the record has changed since
                report(str(error))
            else:
                yield complete


def _sortable(value: Any) -> tuple[bool, float, str] | None:
    if isinstance(value, str):
        return True, 0.0, value
    if isinstance(value, bool | int | float) and value == value:
        return False, float(value), ""
    return None
