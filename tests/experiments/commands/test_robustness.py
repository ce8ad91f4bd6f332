"""`bythebook robustness`: other seeds, counted as one would by hand."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.configuration.build import experiment_job
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


@pytest.mark.parametrize("words", [["--seeds", "1"], ["--jobs", "0"], ["fcml/fig-0.0"]])
def test_bad_input_is_one_line(
    words: list[str], outputs: Path, refused: Callable[..., str]
) -> None:
    assert refused("robustness", *words)
    assert not list(outputs.iterdir())
