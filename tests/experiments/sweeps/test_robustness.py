"""Counts over seeds: how they are counted, stored and read."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.sweeps import robustness

Capture = pytest.CaptureFixture[str]
STOCHASTIC = "fcml/fig-1.16"


def latest(outputs: Path) -> Record:
    record = RunStore(outputs).latest_run(STOCHASTIC)
    assert record is not None
    return record


def with_claims(record: Record, *claims: Claim) -> Record:
    """The same record with other claims in the result's file."""
    changed = Record(record.folder, record.content, record.arrays)
    changed.published = replace(record.published, claims=claims)  # type: ignore[misc]
    return changed


def test_the_key_of_a_claim_is_that_of_its_verdict(recorded: Record) -> None:
    keys = robustness.claim_keys(recorded.published.claims)
    assert keys == robustness.claim_keys(recorded.verdicts)
    assert len(set(keys)) == len(keys)


def test_the_key_of_a_claim_has_expression_printed_value_and_second_text() -> None:
    claim = Claim(says="the best order", value="argmin(loss)", printed="3", place="notes 3.3.2")
    assert robustness.claim_key(claim) == "argmin(loss) | 3 | notes 3.3.2"
    assert robustness.claim_key(replace(claim, says="order 3")) == robustness.claim_key(claim)
    for change in ({"value": "argmax(loss)"}, {"printed": "4"}, {"place": ""}):
        assert robustness.claim_key(replace(claim, **change)) != robustness.claim_key(claim)


def test_repeated_keys_are_numbered() -> None:
    claims = [Claim(says=says, holds="1 > 0") for says in "abc"]
    assert robustness.claim_keys(claims) == ["1 > 0", "1 > 0 (2)", "1 > 0 (3)"]


def test_the_counts_are_shown_while_the_code_is_the_same(
    outputs: Path, tracked: object, capsys: Capture
) -> None:
    main(["robustness", STOCHASTIC, "--seeds", "2", "--jobs", "1"])
    capsys.readouterr()
    assert main(["show", STOCHASTIC, "--verbose"]) == 0
    assert "2 of 2 seeds" in capsys.readouterr().out
    record = latest(outputs)
    assert robustness.load_counts(outputs, record)
    file = outputs / robustness.FILE
    file.write_text(file.read_text().replace(record["provenance"]["code"], "another"))
    assert robustness.load_counts(outputs, record) == {}
    file.write_text("{")
    assert robustness.load_counts(outputs, record) == {}


def test_the_counts_remain_when_a_claim_is_reworded_and_not_when_its_expression_changes(
    outputs: Path, tracked: object
) -> None:
    main(["reproduce", STOCHASTIC])
    job, record = load_job(STOCHASTIC), latest(outputs)
    counts: robustness.Counts = {}
    robustness.update_counts(counts, job, record)
    robustness.save_counts(outputs, {STOCHASTIC: (job.code_hash, counts)})
    assert robustness.load_counts(outputs, record) == counts

    first, *others = job.claims
    key = robustness.claim_key(first)
    reworded = with_claims(record, replace(first, says="the same in other words"), *others)
    assert robustness.load_counts(outputs, reworded) == counts
    other = replace(first, value=None, draws=None, printed=None, corrected=None, holds="1 > 0")
    changed = with_claims(record, other, *others)
    assert robustness.load_counts(outputs, changed) == {
        name: seeds for name, seeds in counts.items() if name != key
    }


def test_counts_by_the_words_of_a_claim_are_read(outputs: Path, tracked: object) -> None:
    main(["reproduce", STOCHASTIC])
    job, record = load_job(STOCHASTIC), latest(outputs)
    by_words = {claim.says: [19, 20] for claim in job.claims}
    entry = {STOCHASTIC: {"code": job.code_hash, "claims": by_words}}
    (outputs / robustness.FILE).write_text(json.dumps(entry))
    keys = robustness.claim_keys(job.claims)
    assert robustness.load_counts(outputs, record) == {key: [19, 20] for key in keys}


def test_a_claim_that_cannot_be_evaluated_counts_as_not_expected(
    outputs: Path, tracked: object
) -> None:
    main(["reproduce", STOCHASTIC])
    job, record = load_job(STOCHASTIC), latest(outputs)
    quantity = next(name for name in record.outcome if record.outcome[name].axes)
    empty = Claim(says="a", holds=f"max(where({quantity}, {quantity} > inf)) > 0")
    published = replace(job.published, claims=[empty, *job.claims])
    counts: robustness.Counts = {}
    robustness.update_counts(counts, replace(job, published=published), record)
    assert counts.pop(robustness.claim_key(empty)) == [0, 1]
    assert len(counts) == len(job.claims)
    assert all(total == 1 for _, total in counts.values())


def test_a_corrupt_record_does_not_count_as_failed_claims(outputs: Path, tracked: object) -> None:
    main(["reproduce", STOCHASTIC])
    record = latest(outputs)
    corrupt = Record(record.folder, {**record.content, "digests": {"outcome": "another"}})
    with pytest.raises(InputError, match="record"):
        robustness.update_counts({}, load_job(STOCHASTIC), corrupt)


def test_equations_are_not_counted(recorded: Record) -> None:
    equation = Claim(says="the loss is (1.19)", equation="fcml.leave_one_out")
    order = Claim(says="the best order", value="argmin(loo_loss)", printed="3")
    job = load_job("fcml/fig-1.15")
    job = replace(job, published=replace(job.published, claims=(equation, order)))
    counts: robustness.Counts = {}
    robustness.update_counts(counts, job, recorded)
    assert counts == {"argmin(loo_loss) | 3": [1, 1]}
