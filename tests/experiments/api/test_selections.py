"""Selections of results and of recorded runs."""

from pathlib import Path

from bythebook.experiments.api import selections
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.execution.runner import run_jobs
from bythebook.experiments.store.record import Record


def test_verdicts_are_those_of_the_latest_runs(outputs: Path, recorded: Record) -> None:
    def select(*words: str) -> list[str]:
        return selections.select_results(words, None, outputs)

    assert select("verdict:reproduced") == ["fcml/fig-1.15"]
    assert select("verdict:untested") == []
    assert select("fcml/fig-1.15") == ["fcml/fig-1.15"]


def test_runs_are_selected_by_result_and_by_study(outputs: Path, recorded: Record) -> None:
    (other,) = run_jobs([load_job("fcml/fig-1.1")], outputs)
    every = {recorded.id, other.record.id}

    def select(*words: str, search: str | None = None) -> set[str]:
        return {run.id for run in selections.select_runs(words, search, outputs).runs()}

    assert select() == every
    assert select("fcml/fig-1.15") == {recorded.id}
    assert select("study:polynomial_order") == {recorded.id}
    assert select(search="fig-1.15") == {recorded.id}
