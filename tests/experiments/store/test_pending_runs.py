"""Computed runs that are recorded in packs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from bythebook.experiments.config.job import Job
from bythebook.experiments.core.outcome import diff_outcomes
from bythebook.experiments.execution.provenance import collect_environment
from bythebook.experiments.execution.worker import RunOptions, run_and_record, run_chunk
from bythebook.experiments.store.run_reader import load_summary, read_run
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.store.run_summary import RunSummary

FACTS = collect_environment() | {"started": 0.0, "seconds": 0.0, "cpu_seconds": 0.0}


def facts_of(content: dict[str, Any]) -> dict[str, Any]:
    """The fields that do not depend on the time of the run and the storage of its arrays."""
    timed = ("started", "seconds", "cpu_seconds")
    facts = {k: v for k, v in content["provenance"].items() if k not in timed}
    outcome = content["digests"]["outcome"]
    return {**content, "provenance": facts, "digests": outcome}


def test_a_packed_run_equals_a_run_in_a_folder(tmp_path: Path, cells: list[Job]) -> None:
    """Outcome, record, metrics, verdicts and summary are equal."""
    folders = [run_and_record(job, RunOptions(tmp_path / "single", FACTS)) for job in cells]
    paths = run_chunk(cells, RunOptions(tmp_path / "sweep", FACTS))
    assert len(list((tmp_path / "sweep").rglob("*.pack"))) == 1
    assert not list((tmp_path / "sweep").rglob("run.json"))
    for single, path in zip(folders, map(Path, paths), strict=True):
        other = read_run(path)
        assert diff_outcomes(single.outcome, other.outcome) == []
        assert [q.values.tobytes() for q in single.outcome.values()] == [
            q.values.tobytes() for q in other.outcome.values()
        ]
        assert facts_of(other.content) == facts_of(read_run(single.folder).content)
        assert other.metrics == single.metrics
        assert other.verdicts == single.verdicts
        assert replace(load_summary(path), started=0.0, seconds=0.0) == replace(
            RunSummary.from_record(single), started=0.0, seconds=0.0
        )


def test_packed_and_single_runs_are_numbered_together(outputs: Path, job: Job) -> None:
    store = RunStore(outputs)
    order = RunOptions(outputs, FACTS, force=True)
    names = [run_and_record(job, order).id]
    names += [Path(path).name for path in run_chunk([job, job], order)]
    names += [run_and_record(job, order).id]
    assert names == [f"{job.key}-{number}" for number in range(1, 5)]
    assert store.find_completed(job).id == names[-1]  # type: ignore[union-attr]
    adopted = run_chunk([job, job], RunOptions(outputs, FACTS))
    assert [Path(path).name for path in adopted] == [names[-1]] * 2
    assert len(list(store.folders())) == 4
