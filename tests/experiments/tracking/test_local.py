"""The store of the outputs folder, and the tracker for a setting."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.store.record import Record
from bythebook.experiments.tracking.client import ClientTracker
from bythebook.experiments.tracking.local import LocalTracker, make_tracker
from bythebook.experiments.tracking.payload import Payload, run_payload

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn


def test_a_run_is_logged_once(tracked: LocalTracker, record: Record) -> None:
    first = tracked.log_runs([run_payload(record)])
    assert tracked.log_runs([run_payload(record), run_payload(record)]) == first
    assert tracked.logged_ids() == {record.id}
    client = ClientTracker(tracked.uri, tracked.artifacts)
    assert client.log_runs([run_payload(record)]) == first
    assert client.logged_ids() == {record.id}


def test_a_run_that_was_logged_in_part_is_completed(
    tracked: LocalTracker, record: Record, read_back: Callable[[str, str], dict[str, Any]]
) -> None:
    sent = run_payload(record)
    part = Payload(**{**vars(sent), "status": "RUNNING", "end": None, "metrics": sent.metrics[:2]})
    client = ClientTracker(tracked.uri, tracked.artifacts)
    begun = client.log_runs([part])[record.id]
    assert tracked.logged_ids() == set()
    assert client.log_runs([sent])[record.id] == begun
    complete = read_back(tracked.uri, begun)
    assert complete["info"][1] == "FINISHED"
    assert complete["metrics"].keys() == {name for name, _, _ in sent.metrics}
    assert tracked.logged_ids() == {record.id}


@pytest.mark.parametrize("uri", ["me:word@host", "http://me:my word@host", "http://me:'word'@host"])
def test_an_invalid_address_is_rejected_without_its_password(uri: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="tracking_uri is not an address") as error:
        make_tracker("server", uri, tmp_path)
    assert "word" not in str(error.value)
