"""Trackers that tell, and that forgive."""

import pytest

from experiments.records.record import Record
from experiments.tracking.runs import payload
from experiments.tracking.tracker import Forgiving, Tracker, Unreachable

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn


def test_a_store_that_cannot_be_reached_costs_a_line(record: Record) -> None:
    class Gone(Tracker):
        def put(self, payloads: object) -> dict[str, str]:
            raise Unreachable("connection refused")

        def logged(self) -> set[str]:
            return set()

    told: list[str] = []
    tracker = Forgiving(Gone(), told.append)
    assert tracker.put([payload(record)]) == {}
    assert tracker.put([payload(record)]) == {}
    assert len(told) == 1
    assert "bythebook sync" in told[0]
