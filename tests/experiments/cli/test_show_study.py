"""`bythebook show study:<name>`: knobs, quantities and results of a study."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.config.selection import select_experiments
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.study import studies
from bythebook.experiments.execution.runner import run_jobs

Capture = pytest.CaptureFixture[str]


def shown(capsys: Capture, name: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["show", f"study:{name}", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_every_knob_with_its_default_and_every_result(outputs: Path, capsys: Capture) -> None:
    found = shown(capsys, "polynomial_order")
    fields = dataclasses.fields(studies()["polynomial_order"])
    assert [knob["knob"] for knob in found["knobs"]] == [field.name for field in fields]
    named = [knob["doc"] for knob in found["knobs"]]
    assert named == [field.metadata["doc"] for field in fields]
    assert found["experiments"] == select_experiments(["study:polynomial_order"])
    assert main(["show", "study:polynomial_order"]) == 0
    assert "holdout_from" in capsys.readouterr().out


def test_declared_quantities_need_no_run(
    outputs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have meaning, axes, unit and equation; those that a run may leave out are there too."""
    study = studies()["polynomial_order"]
    monkeypatch.setattr(study, "run", lambda *_: pytest.fail("a run was computed"))
    found = shown(capsys, "polynomial_order")
    by_name = {entry["quantity"]: entry for entry in found["quantities"]}
    assert {"loo_loss", "kfold_loss", "holdout_loss"} <= set(by_name)
    assert by_name["loo_loss"] == {
        "quantity": "loo_loss",
        "axes": "order or order, n, repetition",
        "meaning": "mean squared error of points left out of the fit",
        "unit": "",
        "equation": "FCML 1.19",
    }
    assert by_name["log_likelihood"]["unit"] == "nats"
    assert found["axes"]["order"] == {"meaning": "polynomial order", "unit": ""}
    assert main(["show", "study:polynomial_order"]) == 0
    printed = capsys.readouterr().out
    assert "mean squared error of points left out of the fit" in printed
    assert "partition into folds" in printed
    assert not list(outputs.iterdir())


@pytest.fixture
def partly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study coin_game declares some of its quantities."""
    study = studies()["coin_game"]
    monkeypatch.setattr(study, "declares_all", False)
    some = {name: study.quantities[name] for name in ("posterior_mean", "evidence")}
    monkeypatch.setattr(study, "quantities", some)


@pytest.mark.usefixtures("partly")
def test_other_quantities_are_those_of_the_record(outputs: Path, capsys: Capture) -> None:
    """The axes have the lengths of the arrays; declared quantities have a meaning."""
    experiment = load_job(select_experiments(["study:coin_game"])[0])
    (done,) = run_jobs([experiment], outputs)
    found = shown(capsys, "coin_game")["quantities"]
    axes = {entry["quantity"]: entry["axes"] for entry in found}
    assert set(axes) == set(done.record.outcome)
    for name, quantity in done.record.outcome.items():
        sizes = [int(part.split(":")[0]) for part in axes[name].split(" (")[1:]]
        assert sizes == list(quantity.values.shape)
    meanings = {entry["quantity"]: entry["meaning"] for entry in found if entry["meaning"]}
    assert set(meanings) == {"posterior_mean", "evidence"}
    assert meanings["posterior_mean"] == "posterior mean of the probability of heads"


@pytest.mark.usefixtures("partly")
def test_without_a_record_a_run_is_computed_and_not_stored(outputs: Path, capsys: Capture) -> None:
    assert shown(capsys, "coin_game")["quantities"]
    assert not list(outputs.iterdir())


@pytest.mark.usefixtures("misbehaving", "outputs")
def test_a_study_without_results_has_knobs(capsys: Capture) -> None:
    found = shown(capsys, "misbehaving")
    assert found["knobs"][0]["allowed"].startswith("str, one of well, raise")
    assert (found["experiments"], found["quantities"]) == ([], [])
