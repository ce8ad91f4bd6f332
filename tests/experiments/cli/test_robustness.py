"""`bythebook robustness`: the counts over seeds, compared with a count by hand."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.config.job import PublishedResult
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.claims import Claim
from bythebook.experiments.execution.runner import run_jobs
from bythebook.experiments.store.record import Record
from bythebook.experiments.sweeps import robustness

Capture = pytest.CaptureFixture[str]
STOCHASTIC, DETERMINISTIC = "fcml/fig-1.16", "fcml/fig-1.15"


def test_the_counts_equal_a_count_by_hand(outputs: Path, tracked: object, capsys: Capture) -> None:
    assert main(
        ["robustness", DETERMINISTIC, STOCHASTIC, "--seeds", "3", "--jobs", "1", "--json"]
    ) in (0, 1)
    found = json.loads(capsys.readouterr().out)
    assert list(found) == [STOCHASTIC]  # the other result is deterministic
    job = load_job(STOCHASTIC)
    jobs = [cell.job for cell in robustness.seed_cells({STOCHASTIC: job}, 3)]
    assert [job.seed for job in jobs] == [0, 1, 2]
    records = [done.record for done in run_jobs(jobs, outputs)]
    assert not any(done.computed for done in run_jobs(jobs, outputs))
    for claim in job.claims:
        expected = [record.judge_claim(claim).verdict for record in records]
        same = expected.count(claim.expected_verdict())
        assert found[STOCHASTIC][claim.says] == [same, 3]
    failed = robustness.Counts()
    failed_record = Record(records[0].folder, {**records[0].content, "status": "failed"})
    robustness.update_counts(failed, job, failed_record)
    assert set(map(tuple, failed.values())) == {(0, 1)}


def test_an_untested_claim_is_not_counted(outputs: Path) -> None:
    untested = Claim(says="untested", holds="1 > 0", needs="newsgroups")
    claims = (untested, Claim(says="tested", holds="2 > 1"))
    job = replace(load_job(STOCHASTIC), published=PublishedResult(claims=claims))
    (done,) = run_jobs([job], outputs)
    counts = robustness.Counts()
    robustness.update_counts(counts, job, done.record)
    assert counts == {"2 > 1": [1, 1]}


@pytest.mark.parametrize(("same", "fragile"), [(20, False), (19, False), (18, True), (0, True)])
def test_one_seed_of_twenty_may_fail(same: int, fragile: bool) -> None:
    assert robustness.is_fragile([same, 20]) is fragile


def test_the_page_lists_claims_without_full_agreement(
    outputs: Path, tracked: object, capsys: Capture
) -> None:
    assert main(["robustness", STOCHASTIC, "--seeds", "2", "--jobs", "1", "--json"]) in (0, 1)
    counts = json.loads(capsys.readouterr().out)[STOCHASTIC]
    assert main(["robustness", STOCHASTIC, "--seeds", "2", "--jobs", "1", "--markdown"]) in (0, 1)
    page = capsys.readouterr().out
    assert f"Of {len(counts)} claims" in page
    dependent = [says for says, (agreeing, total) in counts.items() if agreeing < total]
    assert page.count(f"| `{STOCHASTIC}`: ") == len(dependent)
    assert all(f"| `{STOCHASTIC}`: {says} |" in page for says in dependent)


@pytest.mark.parametrize("words", [["--seeds", "1"], ["--jobs", "0"], ["fcml/fig-0.0"]])
def test_bad_input_is_one_line(
    words: list[str], outputs: Path, refused: Callable[..., str]
) -> None:
    assert refused("robustness", *words)
    assert not list(outputs.iterdir())
