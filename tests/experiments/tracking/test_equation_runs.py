"""One MLflow run a book, with a metric for each equation's gap: made once, then updated."""

import dataclasses
from pathlib import Path

import pytest

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.execution.worker import RunOptions, run_and_record
from bythebook.experiments.store.record import Record
from bythebook.experiments.tracking.equation_runs import equation_payloads, log_equations
from bythebook.experiments.tracking.local import LocalTracker
from bythebook.experiments.tracking.payload import VERDICT_DIGEST_TAG

ENVIRONMENT = {
    "git": {"commit": None, "dirty": None},
    "packages": {},
    **dict.fromkeys(("python", "platform", "user", "command"), ""),
}


@pytest.fixture
def claimed(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> Record:
    """A recorded result of equations, the only one that claims some."""
    found = next(
        names
        for name, names in catalogue.equation_claims().items()
        if catalogue.load_heading(names[0]).study == catalogue.EQUATIONS
    )
    job = load_job(found[0])
    return run_and_record(job, RunOptions(outputs, ENVIRONMENT))


def test_a_book_has_a_metric_for_each_gap(outputs: Path, claimed: Record) -> None:
    (payload,) = equation_payloads(outputs)
    assert payload.name == f"equations {claimed.source.book}"
    metrics = {name: value for name, value, _ in payload.metrics}
    for name, gaps in claimed.equations.items():
        function = name.partition(".")[2]
        assert metrics[f"gap/{function}"] == gaps["gap"]
        assert metrics.get(f"corrected/{function}") == gaps["corrected_gap"]


@pytest.mark.usefixtures("claimed")
def test_a_run_is_logged_once(
    outputs: Path, tracked: LocalTracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def log() -> int:
        return log_equations(outputs, tracked, tracked.run_tags(VERDICT_DIGEST_TAG))

    assert [log(), log()] == [1, 0]
    (before,) = tracked.run_tags(VERDICT_DIGEST_TAG)
    (payload,) = equation_payloads(outputs)
    other = dataclasses.replace(payload, tags={**payload.tags, VERDICT_DIGEST_TAG: "new"})
    monkeypatch.setattr(
        "bythebook.experiments.tracking.equation_runs.equation_payloads", lambda _: [other]
    )
    assert [log(), log()] == [1, 0]
    assert list(tracked.run_tags(VERDICT_DIGEST_TAG)) == [before]
