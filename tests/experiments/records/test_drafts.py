"""Runs on their way into a pack."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.configuration.jobs import Job
from experiments.contract.outcome import differences
from experiments.records.reading import read, told
from experiments.records.store import RunStore
from experiments.records.told import Told
from experiments.running.provenance import environment
from experiments.running.work import Order, perform, run_chunk

FACTS = environment() | {"started": 0.0, "seconds": 0.0, "cpu_seconds": 0.0}


def facts_of(content: dict[str, Any]) -> dict[str, Any]:
    """What does not hang on when a run was made, and how its arrays are kept."""
    timed = ("started", "seconds", "cpu_seconds")
    facts = {k: v for k, v in content["provenance"].items() if k not in timed}
    outcome = content["digests"]["outcome"]
    return {**content, "provenance": facts, "digests": outcome}


def test_a_packed_run_is_what_a_run_in_a_folder_is(tmp_path: Path, cells: list[Job]) -> None:
    """The same numbers bit by bit, the same words, the same tables and figures."""
    folders = [perform(job, Order(tmp_path / "single", FACTS)) for job in cells]
    paths = run_chunk(cells, Order(tmp_path / "sweep", FACTS))
    assert len(list((tmp_path / "sweep").rglob("*.pack"))) == 1
    assert not list((tmp_path / "sweep").rglob("run.json"))
    for single, path in zip(folders, map(Path, paths), strict=True):
        other = read(path)
        assert differences(single.outcome, other.outcome) == []
        assert [q.values.tobytes() for q in single.outcome.values()] == [
            q.values.tobytes() for q in other.outcome.values()
        ]
        assert facts_of(other.content) == facts_of(read(single.folder).content)
        assert other.metrics == single.metrics
        assert other.verdicts == single.verdicts
        assert replace(told(path), started=0.0, seconds=0.0) == replace(
            Told.of(single), started=0.0, seconds=0.0
        )


def test_packed_and_single_runs_count_on(outputs: Path, job: Job) -> None:
    store = RunStore(outputs)
    order = Order(outputs, FACTS, fresh=True)
    names = [perform(job, order).id]
    names += [Path(path).name for path in run_chunk([job, job], order)]
    names += [perform(job, order).id]
    assert names == [f"{job.key}-{number}" for number in range(1, 5)]
    assert store.done(job).id == names[-1]  # type: ignore[union-attr]
    adopted = run_chunk([job, job], Order(outputs, FACTS))
    assert [Path(path).name for path in adopted] == [names[-1]] * 2
    assert len(list(store.folders())) == 4
