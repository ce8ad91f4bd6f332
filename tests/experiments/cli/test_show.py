"""`bythebook show`: the claims, the knobs and the last verdicts of a result."""

import json
from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.execution.runner import run_jobs

Capture = pytest.CaptureFixture[str]


def test_show_prints_claims_knobs_and_verdicts(outputs: Path, capsys: Capture) -> None:
    assert main(["show", "fcml/fig-1.15"]) == 0
    text = capsys.readouterr().out
    assert "no recorded run" in text
    assert "bythebook run fcml/fig-1.15" in text
    assert "orders" in text
    job = load_job("fcml/fig-1.15")
    for claim in job.claims:  # what the text does not say is not printed
        assert (claim.says in text) == (claim.origin == "printed"), claim.says
        assert claim.expression not in text
    for word in ("reproduced", "Derived", "erratum"):
        assert word not in text
    assert main(["run", "experiment=fcml/fig-1.15", "tracking=off", "figures=false"]) == 0
    capsys.readouterr()
    assert main(["show", "fcml/fig-1.15", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["last"]["verdicts"][0]["verdict"] == "reproduced"
    assert {"knob", "value", "allowed", "doc"} <= shown["knobs"][0].keys()


def test_show_prints_whether_a_result_is_deterministic(outputs: Path, capsys: Capture) -> None:
    assert main(["show", "fcml/fig-1.15"]) == 0
    assert "deterministic" not in capsys.readouterr().out  # there is no run
    assert list(run_jobs([load_job("fcml/fig-1.15")], outputs))
    assert main(["show", "fcml/fig-1.15"]) == 0
    assert "deterministic" in capsys.readouterr().out


def test_show_folds_expressions(outputs: Path, capsys: Capture) -> None:
    job = load_job("fcml/fig-1.15")
    assert list(run_jobs([job], outputs))
    assert main(["show", "fcml/fig-1.15"]) == 0
    plain = capsys.readouterr().out
    assert main(["show", "fcml/fig-1.15", "--verbose"]) == 0
    verbose = capsys.readouterr().out
    for claim in job.claims:
        assert " ".join(claim.expression.split()) in verbose
        assert f"Tested: {claim.expression}" not in plain
    derived = [claim for claim in job.claims if claim.origin == "derived"]
    assert f"Derived checks: {len(derived)} of {len(derived)} hold" in plain
    claims = [line for line in plain.splitlines() if "\t" in line]
    assert [line.split("\t")[0] for line in claims] == [
        claim.says for claim in job.claims if claim.origin == "printed"
    ]
    assert not any("  " in line for line in claims)  # no padding
