"""Run summaries: equal to their records, compressed and restored, and rebuilt for other code."""

from dataclasses import replace
from pathlib import Path

import pytest

from bythebook.experiments.config.job import Job
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.alignment import ExpressionError
from bythebook.experiments.core.outcome import Outcome, axis
from bythebook.experiments.execution.provenance import collect_environment
from bythebook.experiments.execution.worker import RunOptions, run_and_record
from bythebook.experiments.store import run_summary
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_summary import (
    RunSummary,
    compress_summaries,
    decompress_summaries,
    evaluate_metric,
)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    book = load_job("fcml/fig-1.15")
    jobs: list[Job] = [book, *(replace(book, seed=s, canonical=False) for s in (1, 2))]
    options = RunOptions(tmp_path_factory.mktemp("outputs"), collect_environment())
    return [run_and_record(job, options) for job in jobs]


def test_a_summary_has_the_fields_of_the_record(records: list[Record]) -> None:
    for record in records:
        found = RunSummary.from_record(record, "max(loo_loss)")
        assert found.id == record.id
        assert found.metrics == record.metrics
        assert found.extra_metrics == {"max(loo_loss)": record.outcome["loo_loss"].values.max()}
        assert found.knobs == record["science"]["knobs"]
        assert found.claims == len(record.published.claims) > 0
        assert "verdict" not in vars(found)  # verdicts are never read from a file
        assert found.canonical == record["canonical"]
        assert found.has_metric("max(loo_loss)")
        assert found.has_metric(None)
        assert not found.has_metric("min(loo_loss)")


def test_a_metric_without_a_value_has_a_problem(records: list[Record]) -> None:
    assert "nothing" in RunSummary.from_record(records[0], "mean(nothing)").problem


def test_compressed_summaries_are_restored(records: list[Record]) -> None:
    summaries = [RunSummary.from_record(record) for record in records]
    other = replace(summaries[0], metrics={"nan": float("inf"), "count": 3, "ok": True, "w": "x"})
    both = [*summaries, other]
    assert decompress_summaries(compress_summaries(both)) == both
    assert decompress_summaries(compress_summaries(summaries[:1])) == summaries[:1]


def test_summaries_of_other_code_are_not_used(
    records: list[Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = compress_summaries([RunSummary.from_record(record) for record in records])
    assert decompress_summaries(content[:-4]) is None
    monkeypatch.setattr(run_summary, "evaluation_checksum", lambda: 1)
    assert decompress_summaries(content) is None


def test_a_metric_is_a_scalar() -> None:
    found = Outcome(loss=axis("order", [1, 2]).of([3.0, 4.0]))
    assert evaluate_metric("mean(loss)", found) == 3.5
    with pytest.raises(ExpressionError, match="must be a scalar, not an array"):
        evaluate_metric("2 * loss", found)


def test_the_evaluating_modules_exist() -> None:
    folder = Path(run_summary.__file__).parents[1] / "core"
    assert all((folder / f"{name}.py").exists() for name in run_summary._EVALUATING_MODULES)
