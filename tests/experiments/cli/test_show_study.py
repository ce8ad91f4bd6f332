"""`bythebook show study:<name>`: knobs, quantities and results of a study."""

import dataclasses
import json
from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.config.selection import select_experiments
from bythebook.experiments.core.study import studies
from bythebook.experiments.store.record import Record

Capture = pytest.CaptureFixture[str]


def shown(capsys: Capture, name: str) -> dict[str, list[dict[str, str]]]:
    capsys.readouterr()
    assert main(["show", f"study:{name}", "--json"]) == 0
    found: dict[str, list[dict[str, str]]] = json.loads(capsys.readouterr().out)
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


def test_quantities_are_those_of_the_record(recorded: Record, capsys: Capture) -> None:
    """The axes have the lengths of the arrays."""
    found = shown(capsys, "polynomial_order")["quantities"]
    axes = {entry["quantity"]: entry["axes"] for entry in found}
    assert set(axes) == set(recorded.outcome)
    for name, quantity in recorded.outcome.items():
        sizes = [int(part.split(":")[0]) for part in axes[name].split(" (")[1:]]
        assert sizes == list(quantity.values.shape)


def test_without_a_record_a_run_is_computed_and_not_stored(outputs: Path, capsys: Capture) -> None:
    assert shown(capsys, "polynomial_order")["quantities"]
    assert not list(outputs.iterdir())


@pytest.mark.usefixtures("misbehaving", "outputs")
def test_a_study_without_results_has_knobs(capsys: Capture) -> None:
    found = shown(capsys, "misbehaving")
    assert found["knobs"][0]["allowed"].startswith("str, one of well, raise")
    assert (found["experiments"], found["quantities"]) == ([], [])
