"""The MLflow tags of studies: the same from both writers, and updated only if they change."""

from pathlib import Path

import pytest

from bythebook.experiments.config import catalogue
from bythebook.experiments.core.study import studies
from bythebook.experiments.store.record import Record
from bythebook.experiments.tracking.client import ClientTracker
from bythebook.experiments.tracking.experiment_tags import (
    COLUMNS,
    experiment_tags,
    update_experiment_tags,
)
from bythebook.experiments.tracking.local import LocalTracker
from bythebook.experiments.tracking.payload import run_payload


def test_every_study_with_results_has_tags(outputs: Path, recorded: Record) -> None:
    by_study = experiment_tags(outputs)
    assert set(by_study) == {
        catalogue.load_experiment(name).study for name in catalogue.experiment_names()
    }
    tags = by_study["polynomial_order"]
    assert (tags["topic"], "fcml" in tags["book"]) == ("regression", True)
    assert "4 reproduced" in tags["verdict"]  # of the one recorded run
    assert "`fcml/fig-1.15`" in tags["mlflow.note.content"]
    first = next(iter(studies()["polynomial_order"].headline))
    assert tags[COLUMNS].startswith(f"tags.`item`,tags.`verdict`,metrics.`{first}`")
    assert "verdict" not in by_study["ridge_path"]  # no recorded run


@pytest.mark.filterwarnings("ignore")
def test_both_writers_give_the_same_tags(
    outputs: Path, recorded: Record, tracked: LocalTracker
) -> None:
    tracked.log_runs([run_payload(recorded)])
    update_experiment_tags(outputs, tracked)
    expected = experiment_tags(outputs)["polynomial_order"]
    assert tracked.experiment_names() == {"Default": {}, "polynomial_order": expected}
    client = ClientTracker(tracked.uri, tracked.artifacts)
    assert client.experiment_names()["polynomial_order"] == expected
    tracked.set_experiment_tags({"polynomial_order": {"topic": "another"}})
    assert client.experiment_names()["polynomial_order"]["topic"] == "another"
    update_experiment_tags(outputs, client)
    assert tracked.experiment_names()["polynomial_order"] == expected
    client.set_experiment_tags({"nothing": {"topic": "x"}})
    assert "nothing" not in tracked.experiment_names()
