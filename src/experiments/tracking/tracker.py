"""The interface of a tracker, and two wrappers that report errors instead of raising them."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import ParamSpec, Protocol, TypeVar

from bythebook.experiments.tracking.payload import RUN_ID_TAG, Payload

P = ParamSpec("P")
T = TypeVar("T")


class TrackingUnavailableError(Exception):
    """The tracking store is not available; the runs are recorded on disk."""


class TrackingRejectedError(TrackingUnavailableError):
    """The server rejected some of the runs; `logged` has the others, as `Tracker.log_runs`."""

    def __init__(self, lines: Sequence[str], logged: Mapping[str, str] | None = None) -> None:
        super().__init__("; ".join(lines))
        self.lines, self.logged = list(lines), dict(logged or {})


class Tracker(Protocol):
    """A tracking store; a run counts as logged when it is complete there."""

    def log_runs(self, payloads: Sequence[Payload]) -> dict[str, str]:
        """Log the runs that are not logged yet; return MLflow's run id for each record id.

        Raises `TrackingRejectedError` after all runs that the store accepts have been logged.
        """

    def run_tags(self, tag: str) -> dict[str, str]:
        """The value of a tag, for each logged record that carries it."""

    def child_runs(self, tag: str, value: str) -> set[str]:
        """The logged records whose tag has this value."""
        return {name for name, text in self.run_tags(tag).items() if text == value}

    def find_logged(self, record_ids: Sequence[str], tag: str = RUN_ID_TAG) -> dict[str, str]:
        """The logged ones of these records, each with the value of a tag, or an empty text."""
        values, logged = self.run_tags(tag), self.logged_ids()
        return {name: values.get(name, "") for name in record_ids if name in logged}

    def experiment_names(self) -> dict[str, dict[str, str]]:
        """The tags of every experiment in the store, by its name."""

    def set_experiment_tags(self, tags: Mapping[str, Mapping[str, str]]) -> None:
        """Set tags of experiments in the store."""

    def logged_ids(self, tag: str = RUN_ID_TAG) -> set[str]:
        """The ids of all logged records that carry the tag; every logged record has the default."""
        return set(self.run_tags(tag))

    def pop_messages(self) -> list[str]:
        """Return and clear the pending messages, for example about updated paths."""
        return []


class ReportingTracker(Tracker):
    """A tracker that reports rejected runs and pending messages, one line each."""

    def __init__(self, tracker: Tracker, notify: Callable[[str], None]) -> None:
        self.tracker, self.notify, self.rejected = tracker, notify, 0

    def log_runs(self, payloads: Sequence[Payload]) -> dict[str, str]:
        try:
            return self.tracker.log_runs(payloads)
        except TrackingRejectedError as error:
            self._report(error)
            return error.logged
        finally:
            self._report_messages()

    def run_tags(self, tag: str) -> dict[str, str]:
        try:
            return self.tracker.run_tags(tag)
        finally:
            self._report_messages()

    def child_runs(self, tag: str, value: str) -> set[str]:
        try:
            return self.tracker.child_runs(tag, value)
        finally:
            self._report_messages()

    def find_logged(self, record_ids: Sequence[str], tag: str = RUN_ID_TAG) -> dict[str, str]:
        return self.tracker.find_logged(record_ids, tag)

    def experiment_names(self) -> dict[str, dict[str, str]]:
        return self.tracker.experiment_names()

    def set_experiment_tags(self, tags: Mapping[str, Mapping[str, str]]) -> None:
        try:
            self.tracker.set_experiment_tags(tags)
        except TrackingRejectedError as error:
            self._report(error)

    def _report_messages(self) -> None:
        for line in self.tracker.pop_messages():
            self.notify(line)

    def _report(self, error: TrackingRejectedError) -> None:
        self.rejected += len(error.lines)
        for line in error.lines:
            self.notify(line)


class FaultTolerantTracker(Tracker):
    """A tracker that reports its first error and then logs nothing; `sync` logs the runs later."""

    def __init__(self, tracker: Tracker, notify: Callable[[str], None]) -> None:
        self.tracker, self.notify, self.broken = ReportingTracker(tracker, notify), notify, False

    def log_runs(self, payloads: Sequence[Payload]) -> dict[str, str]:
        return self._attempt(self.tracker.log_runs, payloads) or {}

    def run_tags(self, tag: str) -> dict[str, str]:
        return self._attempt(self.tracker.run_tags, tag) or {}

    def child_runs(self, tag: str, value: str) -> set[str]:
        return self._attempt(self.tracker.child_runs, tag, value) or set()

    def find_logged(self, record_ids: Sequence[str], tag: str = RUN_ID_TAG) -> dict[str, str]:
        return self._attempt(self.tracker.find_logged, record_ids, tag) or {}

    def experiment_names(self) -> dict[str, dict[str, str]]:
        return self._attempt(self.tracker.experiment_names) or {}

    def set_experiment_tags(self, tags: Mapping[str, Mapping[str, str]]) -> None:
        self._attempt(self.tracker.set_experiment_tags, tags)

    def _attempt(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """The result of a call of the tracker; None after the first error, which is reported."""
        if self.broken:
            return None
        try:
            return call(*args, **kwargs)
        except (TrackingUnavailableError, sqlite3.Error, OSError) as error:
            self.broken = True
            self.notify(
                f"MLflow is unavailable ({error}); the runs are recorded,"
                " run `bythebook sync` to log them later"
            )
            return None
