"""Trackers that report errors instead of raising them."""

import pytest

from bythebook.experiments.store.record import Record
from bythebook.experiments.tracking.payload import run_payload
from bythebook.experiments.tracking.tracker import (
    FaultTolerantTracker,
    Tracker,
    TrackingUnavailableError,
)

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn


def test_an_unavailable_store_is_reported_once(record: Record) -> None:
    class Unavailable(Tracker):
        def log_runs(self, payloads: object) -> dict[str, str]:
            raise TrackingUnavailableError("connection refused")

        def logged_ids(self) -> set[str]:
            return set()

    lines: list[str] = []
    tracker = FaultTolerantTracker(Unavailable(), lines.append)
    assert tracker.log_runs([run_payload(record)]) == {}
    assert tracker.log_runs([run_payload(record)]) == {}
    assert len(lines) == 1
    assert "bythebook sync" in lines[0]
