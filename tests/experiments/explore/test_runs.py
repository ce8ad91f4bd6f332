"""The response of a worker: verdicts, figures and numbers, or problems of one line each."""

import base64
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.explore import runs
from bythebook.experiments.explore.runs import RunRequest, run_request, validated_values
from bythebook.experiments.store.record import Record


def request(outputs: Path, name: str = "fcml/fig-1.15", **texts: str) -> RunRequest:
    values = {key if key == "seed" else f"study.{key}": text for key, text in texts.items()}
    return RunRequest(name, validated_values(values), outputs)


def test_a_response_has_the_verdicts_of_the_record(recorded: Record, tmp_path: Path) -> None:
    answer = run_request(request(tmp_path / "none"))
    assert answer["recorded"] is None
    assert answer["differs"] == []
    pairs = list(zip(answer["claims"], recorded.verdicts, strict=True))
    assert [claim for claim, verdict in pairs if verdict["kind"] == "equation"] == [None]
    pairs = [(claim, verdict) for claim, verdict in pairs if verdict["kind"] != "equation"]
    for claim, verdict in pairs:
        assert claim["category"] == verdict["standing"]
        assert claim["computed"] == verdict["computed"]
        assert claim["evidence"] == verdict["evidence"]
    assert not (tmp_path / "none").exists()
    assert json.loads(json.dumps(answer, allow_nan=False)) is not None


def test_a_recorded_run_is_reused(recorded: Record, outputs: Path) -> None:
    assert run_request(request(outputs))["recorded"] == recorded.id
    assert run_request(request(outputs, orders="[1, 2]"))["recorded"] is None


def test_other_settings_are_judged_as_far_as_possible(outputs: Path) -> None:
    answer = run_request(request(outputs, orders="[1, 2, 3]", seed="0"))
    assert answer["differs"] == ["study.orders"]  # the seed is the published one
    assert answer["command"] == "bythebook run fcml/fig-1.15 'study.orders=[1,2,3]'"
    assert answer["claims"][0]["category"] == "reproduced"
    assert None in answer["claims"]  # claims about missing orders
    assert not list(outputs.iterdir())


def test_figures_are_embedded_as_svg(outputs: Path) -> None:
    figures = run_request(request(outputs))["figures"]
    assert [figure["name"] for figure in figures] == ["losses"]
    kind, _, content = figures[0]["src"].partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(content).lstrip().startswith(b"<?xml")
    assert "polynomial order" in figures[0]["alt"]
    assert figures[0]["width"] > figures[0]["height"] > 100


def test_a_large_figure_is_sent_as_png(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MAX_SVG_BYTES", 1000)
    kind, _, content = run_request(request(outputs))["figures"][0]["src"].partition(",")
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
def test_invalid_values_give_one_line(outputs: Path, texts: dict[str, str], line: str) -> None:
    import re

    (problem,) = run_request(request(outputs, **texts))["problems"]
    assert re.fullmatch(line, problem), problem
    assert "\n" not in problem


def test_a_run_stops_at_its_time_limit(outputs: Path) -> None:
    slow = dataclasses.replace(request(outputs), timeout=1e-4)
    assert run_request(slow) == {
        "problems": ["stopped after 0.0001 s (set --timeout to allow more)"]
    }


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="enforced on Linux only")
def test_a_run_stops_at_its_memory_limit(outputs: Path) -> None:
    large = request(outputs, "fcml/2.9.2-plugin-cov", repetitions="1000000")
    (problem,) = run_request(dataclasses.replace(large, memory_gb=0.05))["problems"]
    assert problem.startswith("memory limit of 0.05 GB exceeded (set --memory-gb to raise it)")


def test_a_failed_run_gives_its_error(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Any) -> Any:
        raise ArithmeticError("level 3 <b>cannot</b>\nbe computed")

    monkeypatch.setattr(runs, "compute", fail)
    problems = run_request(request(outputs))["problems"]
    assert problems == ["the run failed: ArithmeticError: level 3 <b>cannot</b> be computed"]


def test_a_failed_figure_does_not_fail_the_run(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise OverflowError("no axis holds it")

    monkeypatch.setattr(runs.registry, "figures", fail)
    answer = run_request(request(outputs))
    assert answer["figures"] == []
    assert answer["undrawn"] == "could not draw the figures: OverflowError: no axis holds it"
    assert answer["claims"]


def test_saving_gives_problems_too(outputs: Path) -> None:
    def full(_: Any) -> Any:
        raise OSError(28, "No space left on device")

    assert runs.save_run(request(outputs, seed="x"), full)["problems"][0].startswith(
        "seed=x is not"
    )
    (problem,) = runs.save_run(request(outputs), full)["problems"]
    assert problem == "could not save the run: OSError: [Errno 28] No space left on device"


def test_values_must_be_strings() -> None:
    assert validated_values({"b": "1", "a": "2"}) == (("a", "2"), ("b", "1"))
    with pytest.raises(InputError, match="a: the value must be a string"):
        validated_values({"a": 1})
