"""Other seeds: what is remembered, and for how long."""

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.configuration.build import experiment_job
from experiments.contract.claims import Claim
from experiments.contract.errors import BadInput
from experiments.records.record import Record
from experiments.records.store import RunStore
from experiments.sweeping import robustness

Capture = pytest.CaptureFixture[str]
CHANCE = "fcml/fig-1.16"


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


def test_a_claim_that_has_nothing_to_speak_of_is_not_borne_out_and_stops_no_other(
    outputs: Path, tracked: object
) -> None:
    main(["reproduce", CHANCE])
    job, record = experiment_job(CHANCE), RunStore(outputs).latest(CHANCE)
    assert record is not None
    quantity = next(name for name in record.outcome if record.outcome[name].axes)
    nothing = Claim(says="of nothing", holds=f"max(where({quantity}, {quantity} > inf)) > 0")
    printed = replace(job.printed, claims=[nothing, *job.claims])
    counts: robustness.Counts = {}
    robustness.count(counts, replace(job, printed=printed), record)
    assert counts.pop("of nothing") == [0, 1]
    assert len(counts) == len(job.claims)
    assert all(of == 1 for _, of in counts.values())


def test_a_record_that_cannot_be_read_is_no_seed_in_which_claims_fail(
    outputs: Path, tracked: object
) -> None:
    main(["reproduce", CHANCE])
    record = RunStore(outputs).latest(CHANCE)
    assert record is not None
    broken = Record(record.folder, {**record.content, "digests": {"outcome": "another"}})
    with pytest.raises(BadInput, match="record"):
        robustness.count({}, experiment_job(CHANCE), broken)
