"""What run, reproduce and Python share: records are logged once, and again if judged anew."""

import gc
from pathlib import Path

import pytest

from experiments.commands import performing
from experiments.configuration.build import experiment_job
from experiments.contract.errors import BadInput
from experiments.records import run_files
from experiments.records.record import Record
from experiments.running.launchers import Processes
from experiments.tracking.runs import JUDGED, Payload, judged
from experiments.tracking.tracker import Tracker

NAMES = ["fcml/fig-1.1", "fcml/fig-1.15", "fcml/fig-1.5"]


class Heard(Tracker):
    """A store that only listens."""

    def __init__(self, known: dict[str, str] | None = None) -> None:
        self.known, self.batches = known or {}, list[list[Payload]]()

    def put(self, payloads: "list[Payload]") -> dict[str, str]:  # type: ignore[override]
        self.batches.append(list(payloads))
        return {}

    def tagged(self, tag: str) -> dict[str, str]:
        return self.known if tag == JUDGED else {}


def _selected(outputs: Path, tracker: Heard, **options: bool) -> list[Record]:
    jobs = [experiment_job(name) for name in NAMES]
    done = performing.selected(jobs, outputs, tracker, Processes(1), **options)
    return [d.record for d in sorted(done, key=lambda d: d.index)]


def test_many_are_logged_in_batches_and_only_what_is_new(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(performing, "BATCH", 2)
    store = Heard()
    records = _selected(outputs, store)
    assert [len(batch) for batch in store.batches] == [2, 1]
    logged = [p.record_id for batch in store.batches for p in batch]
    assert sorted(logged) == sorted(record.id for record in records)
    assert all((record.folder / "tables").is_dir() for record in records)

    first, second, third = records
    again = Heard({first.id: judged(first), second.id: "of other verdicts"})
    _selected(outputs, again)
    told = {p.record_id: p.update for batch in again.batches for p in batch}
    assert told == {second.id: True, third.id: False}


def test_a_figure_that_cannot_be_drawn_costs_a_line(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Record) -> None:
        raise ZeroDivisionError("no room")

    monkeypatch.setattr(run_files, "ensure", broken)
    lines: list[str] = []
    done, drawn = performing.one(experiment_job(NAMES[0]), outputs, None, tell=lines.append)
    assert done.record.finished
    assert not drawn
    assert lines == ["the figures cannot be drawn: ZeroDivisionError: no room"]


def test_a_tag_for_a_run_that_is_logged_already_reaches_the_store(outputs: Path) -> None:
    store = Heard()
    for tags in ({}, {"paper": "3"}):
        job = experiment_job(NAMES[1])
        performing.one(job, outputs, store, tell=print, figures=False, own_tags=tags)
    (first,), (found,), (refreshed,) = store.batches
    assert ("paper" in first.tags, found.tags["paper"], refreshed.update) == (False, "3", True)


def test_a_metric_is_tried_on_the_first_cell(outputs: Path) -> None:
    job = experiment_job("fcml/fig-1.15")
    performing.try_metric("loo_loss[3] + 1", job, outputs)
    with pytest.raises(BadInput, match="metric="):
        performing.try_metric("loo_los[3]", job, outputs)
    performing.try_metric(None, job, Path("/nowhere"))  # and nothing is run for none


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_searched_for_again_after_drawing(
    collects: bool, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def draw(_: Record) -> None:
        seen.append(gc.isenabled())
        raise ValueError("no figure can hold it")

    monkeypatch.setattr(run_files, "ensure", draw)
    was = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        job = experiment_job("fcml/fig-1.15")
        _, drawn = performing.one(job, outputs, None, tell=lambda line: None)
        assert (seen, drawn, gc.isenabled()) == ([False], False, collects)
    finally:
        (gc.enable if was else gc.disable)()
