"""`bythebook robustness`: other seeds, counted as one would by hand."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.configuration.build import experiment_job
from experiments.configuration.jobs import Printed
from experiments.contract.claims import Claim
from experiments.records.record import Record
from experiments.running.runner import perform_all
from experiments.sweeping import robustness

Capture = pytest.CaptureFixture[str]
CHANCE, NONE = "fcml/fig-1.16", "fcml/fig-1.15"


def test_a_claim_is_counted_in_every_seed_against_a_count_by_hand(
    outputs: Path, tracked: object, capsys: Capture
) -> None:
    assert main(["robustness", NONE, CHANCE, "--seeds", "3", "--jobs", "1", "--json"]) in (0, 1)
    found = json.loads(capsys.readouterr().out)
    assert list(found) == [CHANCE]  # the other has no chance in it
    job = experiment_job(CHANCE)
    jobs = [cell.job for cell in robustness.cells({CHANCE: job}, 3)]
    assert [job.seed for job in jobs] == [0, 1, 2]
    records = [done.record for done in perform_all(jobs, outputs)]
    assert not any(done.computed for done in perform_all(jobs, outputs))
    for claim in job.claims:
        expected = [record.judged(claim).verdict for record in records]
        same = expected.count(claim.expected())
        assert found[CHANCE][claim.says] == [same, 3]
    failed = robustness.Counts()
    lost = Record(records[0].folder, {**records[0].content, "status": "failed"})
    robustness.count(failed, job, lost)
    assert set(map(tuple, failed.values())) == {(0, 1)}


def test_what_the_data_cannot_test_is_not_counted(outputs: Path) -> None:
    untested = Claim(says="untested", holds="1 > 0", needs="newsgroups")
    claims = (untested, Claim(says="tested", holds="1 > 0"))
    job = replace(experiment_job(CHANCE), printed=Printed(claims=claims))
    (done,) = perform_all([job], outputs)
    counts = robustness.Counts()
    robustness.count(counts, job, done.record)
    assert counts == {"tested": [1, 1]}


@pytest.mark.parametrize(("same", "fragile"), [(20, False), (19, False), (18, True), (0, True)])
def test_one_seed_in_twenty_may_fail(same: int, fragile: bool) -> None:
    assert robustness.is_fragile([same, 20]) is fragile


def test_the_page_lists_what_not_every_seed_bears_out(
    outputs: Path, tracked: object, capsys: Capture
) -> None:
    assert main(["robustness", CHANCE, "--seeds", "2", "--jobs", "1", "--json"]) in (0, 1)
    counts = json.loads(capsys.readouterr().out)[CHANCE]
    assert main(["robustness", CHANCE, "--seeds", "2", "--jobs", "1", "--markdown"]) in (0, 1)
    page = capsys.readouterr().out
    assert f"{len(counts)} claims were counted" in page
    unsteady = [says for says, (same, of) in counts.items() if same < of]
    assert page.count(f"| `{CHANCE}`: ") == len(unsteady)
    assert all(f"| `{CHANCE}`: {says} |" in page for says in unsteady)


@pytest.mark.parametrize("words", [["--seeds", "1"], ["--jobs", "0"], ["fcml/fig-0.0"]])
def test_bad_input_is_one_line(
    words: list[str], outputs: Path, refused: Callable[..., str]
) -> None:
    assert refused("robustness", *words)
    assert not list(outputs.iterdir())
