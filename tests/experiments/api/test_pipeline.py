"""Running, drawing and logging jobs: each record is logged once, and again if verdicts change."""

import gc
from pathlib import Path

import pytest

from bythebook.experiments.api import pipeline
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.execution.launchers import LocalLauncher
from bythebook.experiments.store import artifacts
from bythebook.experiments.store.record import Record
from bythebook.experiments.tracking.payload import VERDICT_DIGEST_TAG, Payload, verdict_digest
from bythebook.experiments.tracking.tracker import Tracker

NAMES = ["fcml/fig-1.1", "fcml/fig-1.15", "fcml/fig-1.5"]


class RecordingTracker(Tracker):
    """A tracker that keeps the payloads it is sent."""

    def __init__(self, known: dict[str, str] | None = None) -> None:
        self.known, self.batches = known or {}, list[list[Payload]]()

    def log_runs(self, payloads: "list[Payload]") -> dict[str, str]:  # type: ignore[override]
        self.batches.append(list(payloads))
        return {}

    def run_tags(self, tag: str) -> dict[str, str]:
        return self.known if tag == VERDICT_DIGEST_TAG else {}


def _run_all(outputs: Path, tracker: RecordingTracker, **options: bool) -> list[Record]:
    jobs = [load_job(name) for name in NAMES]
    done = pipeline.run_many(jobs, outputs, tracker, LocalLauncher(1), **options)
    return [d.record for d in sorted(done, key=lambda d: d.index)]


def test_only_new_runs_are_logged_and_in_batches(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "BATCH_SIZE", 2)
    store = RecordingTracker()
    records = _run_all(outputs, store)
    *batches, (equations,) = store.batches
    assert equations.record_id == "equations-fcml"
    assert [len(batch) for batch in batches] == [2, 1]
    logged = [p.record_id for batch in batches for p in batch]
    assert sorted(logged) == sorted(record.id for record in records)
    assert all((record.folder / "tables").is_dir() for record in records)

    first, second, third = records
    again = RecordingTracker({first.id: verdict_digest(first), second.id: "of other verdicts"})
    _run_all(outputs, again)
    updates = {p.record_id: p.update for batch in again.batches[:-1] for p in batch}
    assert updates == {second.id: True, third.id: False}


def test_a_figure_that_cannot_be_drawn_is_reported_in_one_line(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Record) -> None:
        raise ZeroDivisionError("no room")

    monkeypatch.setattr(artifacts, "ensure_artifacts", broken)
    lines: list[str] = []
    done, drawn = pipeline.run_one(load_job(NAMES[0]), outputs, None, notify=lines.append)
    assert done.record.finished
    assert not drawn
    assert lines == ["could not draw the figures: ZeroDivisionError: no room"]


def test_a_tag_of_a_logged_run_is_sent_to_the_store(outputs: Path) -> None:
    store = RecordingTracker()
    for tags in ({}, {"paper": "3"}):
        job = load_job(NAMES[1])
        pipeline.run_one(job, outputs, store, notify=print, figures=False, own_tags=tags)
    (first,), (again,), (update,) = store.batches
    assert ("paper" in first.tags, again.tags["paper"], update.update) == (False, "3", True)


def test_a_metric_is_checked_on_the_first_run(outputs: Path) -> None:
    job = load_job("fcml/fig-1.15")
    pipeline.validate_metric("loo_loss[3] + 1", job, outputs)
    with pytest.raises(InputError, match="metric="):
        pipeline.validate_metric("loo_los[3]", job, outputs)
    pipeline.validate_metric(None, job, Path("/nowhere"))  # None runs nothing


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_is_enabled_again_after_drawing(
    enabled: bool, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def draw(_: Record) -> None:
        seen.append(gc.isenabled())
        raise ValueError("no figure can hold it")

    monkeypatch.setattr(artifacts, "ensure_artifacts", draw)
    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        job = load_job("fcml/fig-1.15")
        _, drawn = pipeline.run_one(job, outputs, None, notify=lambda line: None)
        assert (seen, drawn, gc.isenabled()) == ([False], False, enabled)
    finally:
        (gc.enable if was else gc.disable)()
