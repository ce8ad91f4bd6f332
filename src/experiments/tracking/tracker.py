"""What a place to log to can do, and two ways of asking it: telling, and forgiving."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import ParamSpec, Protocol, TypeVar

from experiments.tracking.runs import RUN_ID, Payload

P = ParamSpec("P")
T = TypeVar("T")


class Unreachable(Exception):
    """The store cannot be had right now; the runs are safe on disk."""


class Refused(Unreachable):
    """The server does not want some of what it was given; it has taken the rest."""

    def __init__(self, lines: Sequence[str], taken: Mapping[str, str] | None = None) -> None:
        super().__init__("; ".join(lines))
        self.lines, self.taken = list(lines), dict(taken or {})


class Tracker(Protocol):
    """A place to log to."""

    def put(self, payloads: Sequence[Payload]) -> dict[str, str]:
        """Log what is not there yet; MLflow's run id for each record id.

        Refused is raised when all that may be logged has been.
        """

    def tagged(self, tag: str) -> dict[str, str]:
        """The value of a tag for each record that is in the store, whole, and carries it."""

    def below(self, tag: str, value: str) -> set[str]:
        """The records that are in the store, whole, and whose tag has this value."""
        return {name for name, found in self.tagged(tag).items() if found == value}

    def among(self, record_ids: Sequence[str], tag: str = RUN_ID) -> dict[str, str]:
        """Those of these records that are in the store, whole, each with its tag or none."""
        values, logged = self.tagged(tag), self.logged()
        return {name: values.get(name, "") for name in record_ids if name in logged}

    def experiments(self) -> dict[str, dict[str, str]]:
        """The tags of every experiment that is in the store, by its name."""

    def describe(self, tags: Mapping[str, Mapping[str, str]]) -> None:
        """Set tags of experiments that are in the store."""

    def logged(self, tag: str = RUN_ID) -> set[str]:
        """The ids of all records that are in the store, whole; with a tag, those that carry it."""
        return set(self.tagged(tag))

    def news(self) -> list[str]:
        """What somebody should know of what was found and mended since this was asked last."""
        return []


class Telling(Tracker):
    """A tracker of which each refusal costs a line and nothing else, and whose news are told."""

    def __init__(self, tracker: Tracker, tell: Callable[[str], None]) -> None:
        self.tracker, self.tell, self.refused = tracker, tell, 0

    def put(self, payloads: Sequence[Payload]) -> dict[str, str]:
        try:
            return self.tracker.put(payloads)
        except Refused as refused:
            self._tell_of(refused)
            return refused.taken
        finally:
            self._tell_news()

    def tagged(self, tag: str) -> dict[str, str]:
        try:
            return self.tracker.tagged(tag)
        finally:
            self._tell_news()

    def below(self, tag: str, value: str) -> set[str]:
        try:
            return self.tracker.below(tag, value)
        finally:
            self._tell_news()

    def among(self, record_ids: Sequence[str], tag: str = RUN_ID) -> dict[str, str]:
        return self.tracker.among(record_ids, tag)

    def experiments(self) -> dict[str, dict[str, str]]:
        return self.tracker.experiments()

    def describe(self, tags: Mapping[str, Mapping[str, str]]) -> None:
        try:
            self.tracker.describe(tags)
        except Refused as refused:
            self._tell_of(refused)

    def _tell_news(self) -> None:
        for line in self.tracker.news():
            self.tell(line)

    def _tell_of(self, refused: Refused) -> None:
        self.refused += len(refused.lines)
        for line in refused.lines:
            self.tell(line)


class Forgiving(Tracker):
    """A tracker whose failure costs a line, not a run: what it could not log waits for `sync`."""

    def __init__(self, tracker: Tracker, tell: Callable[[str], None]) -> None:
        self.tracker, self.tell, self.broken = Telling(tracker, tell), tell, False

    def put(self, payloads: Sequence[Payload]) -> dict[str, str]:
        return self._tried(self.tracker.put, payloads) or {}

    def tagged(self, tag: str) -> dict[str, str]:
        return self._tried(self.tracker.tagged, tag) or {}

    def below(self, tag: str, value: str) -> set[str]:
        return self._tried(self.tracker.below, tag, value) or set()

    def among(self, record_ids: Sequence[str], tag: str = RUN_ID) -> dict[str, str]:
        return self._tried(self.tracker.among, record_ids, tag) or {}

    def experiments(self) -> dict[str, dict[str, str]]:
        return self._tried(self.tracker.experiments) or {}

    def describe(self, tags: Mapping[str, Mapping[str, str]]) -> None:
        self._tried(self.tracker.describe, tags)

    def _tried(self, call: Callable[P, T], *words: P.args, **named: P.kwargs) -> T | None:
        """What the tracker answers; None after its first failure, which is told."""
        if self.broken:
            return None
        try:
            return call(*words, **named)
        except (Unreachable, sqlite3.Error, OSError) as error:
            self.broken = True
            self.tell(f"not tracked ({error}); the runs are kept, `bythebook sync` logs them later")
            return None
