"""What a worker answers: the verdicts of a record, the figures, or what is wrong in one line."""

import base64
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from experiments.contract.errors import BadInput
from experiments.explore import trials
from experiments.explore.trials import Asked, texts_of, trial
from experiments.records.record import Record


def asked(outputs: Path, name: str = "fcml/fig-1.15", **texts: str) -> Asked:
    given = {key if key == "seed" else f"study.{key}": text for key, text in texts.items()}
    return Asked(name, texts_of(given), outputs)


def test_a_trial_tells_what_the_record_tells(recorded: Record, tmp_path: Path) -> None:
    answer = trial(asked(tmp_path / "none"))
    assert answer["recorded"] is None
    assert answer["differs"] == []
    assert [claim["standing"] for claim in answer["claims"]] == [
        verdict["standing"] for verdict in recorded.verdicts
    ]
    assert [claim["computed"] for claim in answer["claims"]] == [
        verdict["evidence"] or verdict["computed"] for verdict in recorded.verdicts
    ]
    assert not (tmp_path / "none").exists()
    assert json.loads(json.dumps(answer, allow_nan=False)) is not None


def test_what_is_recorded_is_found(recorded: Record, outputs: Path) -> None:
    assert trial(asked(outputs))["recorded"] == recorded.id
    assert trial(asked(outputs, orders="[1, 2]"))["recorded"] is None


def test_other_settings_are_told_and_judged_as_far_as_they_go(outputs: Path) -> None:
    answer = trial(asked(outputs, orders="[1, 2, 3]", seed="0"))
    assert answer["differs"] == ["study.orders"]  # the seed is the book's
    assert answer["command"] == "bythebook run fcml/fig-1.15 'study.orders=[1,2,3]'"
    assert answer["claims"][0]["standing"] == "reproduced"
    assert None in answer["claims"]  # of orders that are not there
    assert not list(outputs.iterdir())


def test_figures_are_drawings_inside_the_answer(outputs: Path) -> None:
    figures = trial(asked(outputs))["figures"]
    assert [figure["name"] for figure in figures] == ["loo", "holdout"]
    kind, _, content = figures[0]["src"].partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(content).lstrip().startswith(b"<?xml")
    assert "Polynomial order" in figures[0]["alt"]
    assert figures[0]["width"] > figures[0]["height"] > 100


def test_a_large_drawing_is_sent_as_a_picture(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "LARGEST", 1000)
    kind, _, content = trial(asked(outputs))["figures"][0]["src"].partition(",")
    assert kind == "data:image/png;base64"
    assert base64.b64decode(content).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("texts", "line"),
    [
        ({"orders": "[]"}, r"study\.orders=\[\] is empty; allowed: list\[int\].*"),
        ({"orders": "<script>"}, r"study\.orders=<script> is not allowed; .*"),
        ({"orders": "[99999]"}, r"study\.orders=\[99999\]: 99999 is not allowed; .*"),
        ({"seed": "-1"}, r"seed=-1 is not allowed; .*"),
        ({"nothing": "1"}, r".*study\.nothing.*"),
        ({"curve": "${oc.env:HOME}"}, r".*not allowed"),
    ],
)
def test_bad_values_are_one_line(outputs: Path, texts: dict[str, str], line: str) -> None:
    import re

    (told,) = trial(asked(outputs, **texts))["problems"]
    assert re.fullmatch(line, told), told
    assert "\n" not in told


def test_too_long_is_stopped(outputs: Path) -> None:
    slow = dataclasses.replace(asked(outputs), seconds=1e-4)
    assert trial(slow) == {"problems": ["stopped after 0.0001 s (--seconds allows more)"]}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="enforced on Linux only")
def test_too_large_is_stopped(outputs: Path) -> None:
    large = asked(outputs, "fcml/2.9.2-plugin-cov", repetitions="1000000")
    (told,) = trial(dataclasses.replace(large, memory_gb=0.05))["problems"]
    assert told.startswith("it needs more than 0.05 GB (--memory-gb allows more)")


def test_a_run_that_fails_says_how(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Any) -> Any:
        raise ArithmeticError("level 3 <b>cannot</b>\nbe computed")

    monkeypatch.setattr(trials, "compute", fail)
    told = trial(asked(outputs))["problems"]
    assert told == ["the run failed: ArithmeticError: level 3 <b>cannot</b> be computed"]


def test_a_figure_that_fails_costs_the_figure_only(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise OverflowError("no axis holds it")

    monkeypatch.setattr(trials.registry, "figures", fail)
    answer = trial(asked(outputs))
    assert answer["figures"] == []
    assert answer["undrawn"] == "the figures cannot be drawn: OverflowError: no axis holds it"
    assert answer["claims"]


def test_keeping_tells_problems_too(outputs: Path) -> None:
    def full(_: Any) -> Any:
        raise OSError(28, "No space left on device")

    assert trials.kept(asked(outputs, seed="x"), full)["problems"][0].startswith("seed=x is not")
    (told,) = trials.kept(asked(outputs), full)["problems"]
    assert told == "it could not be kept: OSError: [Errno 28] No space left on device"


def test_texts_are_texts() -> None:
    assert texts_of({"b": "1", "a": "2"}) == (("a", "2"), ("b", "1"))
    with pytest.raises(BadInput, match="a is not a text"):
        texts_of({"a": 1})
