"""The store of the outputs folder, and which tracker is asked for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.contract.errors import BadInput
from experiments.records.record import Record
from experiments.tracking.client import ClientTracker
from experiments.tracking.local import LocalTracker, open_tracker
from experiments.tracking.runs import Payload, payload

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn


def test_a_run_is_logged_once(tracked: LocalTracker, record: Record) -> None:
    first = tracked.put([payload(record)])
    assert tracked.put([payload(record), payload(record)]) == first
    assert tracked.logged() == {record.id}
    client = ClientTracker(tracked.uri, tracked.artifacts)
    assert client.put([payload(record)]) == first
    assert client.logged() == {record.id}


def test_a_run_that_an_interruption_left_half_logged_is_completed(
    tracked: LocalTracker, record: Record, read_back: Callable[[str, str], dict[str, Any]]
) -> None:
    sent = payload(record)
    half = Payload(**{**vars(sent), "status": "RUNNING", "end": None, "metrics": sent.metrics[:2]})
    client = ClientTracker(tracked.uri, tracked.artifacts)
    begun = client.put([half])[record.id]
    assert tracked.logged() == set()
    assert client.put([sent])[record.id] == begun
    whole = read_back(tracked.uri, begun)
    assert whole["info"][1] == "FINISHED"
    assert whole["metrics"].keys() == {name for name, _, _ in sent.metrics}
    assert tracked.logged() == {record.id}


@pytest.mark.parametrize("uri", ["me:word@host", "http://me:my word@host", "http://me:'word'@host"])
def test_what_is_no_address_is_refused_without_its_password(uri: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"tracking\.uri is not an address") as refused:
        open_tracker("server", uri, tmp_path)
    assert "word" not in str(refused.value)
