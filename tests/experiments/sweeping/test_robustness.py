"""Other seeds: what is counted, what is skipped, and what is remembered."""

import json
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.configuration.build import experiment_job
from experiments.records.store import RunStore
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


def test_the_counts_are_shown_while_the_code_is_the_same(
    outputs: Path, tracked: object, capsys: Capture
) -> None:
    main(["robustness", CHANCE, "--seeds", "2", "--jobs", "1"])
    capsys.readouterr()
    assert main(["show", CHANCE]) == 0
    assert "2 of 2 seeds" in capsys.readouterr().out
    record = RunStore(outputs).latest(CHANCE)
    assert record is not None
    assert robustness.remembered(outputs, record)
    file = outputs / robustness.FILE
    file.write_text(file.read_text().replace(record["provenance"]["code"], "another"))
    assert robustness.remembered(outputs, record) == {}
    file.write_text("{")
    assert robustness.remembered(outputs, record) == {}


@pytest.mark.parametrize("words", [["--seeds", "1"], ["--jobs", "0"], ["fcml/fig-0.0"]])
def test_bad_input_is_one_line(words: list[str], outputs: Path, capsys: Capture) -> None:
    assert main(["robustness", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not list(outputs.iterdir())
