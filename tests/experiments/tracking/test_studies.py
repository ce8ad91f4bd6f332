"""What MLflow is told of studies: by the fast way and by its client alike; only what changed."""

from pathlib import Path

import pytest

from experiments.configuration import catalogue
from experiments.contract.study import studies
from experiments.records.record import Record
from experiments.tracking.client import ClientTracker
from experiments.tracking.local import LocalTracker
from experiments.tracking.runs import payload
from experiments.tracking.studies import COLUMNS, describe, descriptions


def test_every_study_with_results_is_described(outputs: Path, recorded: Record) -> None:
    found = descriptions(outputs)
    assert set(found) == {catalogue.read(name).study for name in catalogue.names()}
    told = found["polynomial_order"]
    assert (told["topic"], "fcml" in told["book"]) == ("regression", True)
    assert told["verdict"].endswith("reproduced")  # of the one run that is there
    assert "`fcml/fig-1.15`" in told["mlflow.note.content"]
    first = next(iter(studies()["polynomial_order"].headline))
    assert told[COLUMNS].startswith(f"tags.`item`,tags.`verdict`,metrics.`{first}`")
    assert "verdict" not in found["ridge_path"]  # nothing of it was run


@pytest.mark.filterwarnings("ignore")
def test_both_ways_into_the_store_say_the_same(
    outputs: Path, recorded: Record, tracked: LocalTracker
) -> None:
    tracked.put([payload(recorded)])
    describe(outputs, tracked)
    expected = descriptions(outputs)["polynomial_order"]
    assert tracked.experiments() == {"Default": {}, "polynomial_order": expected}
    client = ClientTracker(tracked.uri, tracked.artifacts)
    assert client.experiments()["polynomial_order"] == expected
    tracked.describe({"polynomial_order": {"topic": "another"}})
    assert client.experiments()["polynomial_order"]["topic"] == "another"
    describe(outputs, client)
    assert tracked.experiments()["polynomial_order"] == expected
    client.describe({"nothing": {"topic": "x"}})
    assert "nothing" not in tracked.experiments()
