"""Validation of configurations: types, bounds, and messages that name the setting."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.validation import (
    JobFactory,
    _load_cached,
    check_bounds,
    find_interpolations,
    format_value,
    load_job,
    validate_fields,
)
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.knobs import knob


def test_a_job_is_canonical_if_it_equals_that_of_its_file() -> None:
    name = "fcml/fig-1.15"
    entry = catalogue.load_experiment(name)
    factory = JobFactory(entry.study, entry.body, name, None)
    assert factory.job() == load_job(name)
    assert factory.job().canonical
    assert not factory.job({"seed": 1}).canonical
    assert not factory.job({"study.folds": 3}).canonical
    assert factory.job({"study.folds": load_job(name).study.folds}).canonical  # type: ignore[attr-defined]


def test_jobs_of_one_factory_share_no_list() -> None:
    factory = JobFactory("polynomial_order", {}, None, None)
    first, second = factory.job().study, factory.job().study
    first.orders.append(99)  # type: ignore[attr-defined]
    assert 99 not in second.orders  # type: ignore[attr-defined]


OVERRIDES = {
    "seed=abc": "seed=abc is not allowed; allowed: int, >= 0",
    "seed=null": "seed=null is not allowed; allowed: int, >= 0",
    "seed=${seed}": "'seed=${seed}': interpolation (${...}) is not allowed",
    "study.lambdas=1": "study.lambdas=1 is not allowed; allowed: list[float], >= 0",
    "limits=1": "limits=1 is not a mapping; allowed: limits with timeout, memory_gb",
    "launcher.workers=0": "launcher.workers=0 is not allowed; allowed: int, >= 1",
    "launcher.cluster=pbs": "launcher.cluster=pbs is not allowed; allowed: str, one of slurm,",
    "tracking=cloud": "tracking=cloud is not allowed; allowed: str, one of local, server, off",
    "claims=[{metrc:a}]": "there is no 'claims.metrc'; allowed here: says, value",
    "source.book=bible": "source.book=bible is not allowed; allowed: fcml, prml",
    "source.grade=good": "source.grade=good is not allowed; allowed: ",
}


@pytest.mark.parametrize("typed", OVERRIDES)
def test_overrides(typed: str, outputs: Path, refused: Callable[..., str]) -> None:
    assert refused("run", "study=ridge_path", typed).startswith(OVERRIDES[typed])
    assert not list(outputs.iterdir())


STUDY = "defaults:\n  - override /study: polynomial_order\n"
FAULTS = {
    f"{STUDY}sede: 1\n": "no 'sede'",
    f"{STUDY}study: {{orders: [-1]}}\n": "-1 is not allowed",
    f"{STUDY}study: {{ordrs: [1]}}\n": "no .*'ordrs'|ordrs",
    "defaults:\n  - override /study: polynomial_odor\n": "no study 'polynomial_odor'",
    f"{STUDY}hydra: {{}}\n": "set other settings on the command line",
    f"{STUDY}outputs: /tmp\n": "set other settings on the command line",
    f"{STUDY}source: {{title: no book}}\n": "source.book= is not allowed; allowed: fcml",
}


@pytest.mark.parametrize("text", FAULTS)
def test_an_invalid_file_is_named_with_the_problem(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "experiment" / "fcml"
    folder.mkdir(parents=True)
    (folder / "broken.yaml").write_text(f"# @package _global_\n{text}")
    monkeypatch.setattr(catalogue, "CONF_DIR", tmp_path)
    monkeypatch.setattr(catalogue, "experiment_names", lambda: ["fcml/broken"])
    with pytest.raises(InputError, match=FAULTS[text]) as caught:
        _load_cached.__wrapped__("fcml/broken")
    assert all(line.startswith("experiment/fcml/broken.yaml: ") for line in caught.value.problems)


@dataclass
class Inner:
    """A dataclass with a bound."""

    level: float = knob(1.0, "a level", above=0)


@dataclass
class Outer:
    """A dataclass with a nested one."""

    count: int = knob(1, "a count", at_least=1)
    inner: Inner = field(default_factory=Inner)


def test_nested_settings_are_named_in_full() -> None:
    assert validate_fields(Outer, {"inner": {"level": 2}}, "a.") == {"inner": Inner(2.0)}
    with pytest.raises(InputError, match=r"a\.inner\.level=x is not allowed; allowed: float, > 0"):
        validate_fields(Outer, {"inner": {"level": "x"}}, "a.")
    with pytest.raises(
        InputError, match=r"there is no 'a\.inner\.levl' \(did you mean 'level'\?\)"
    ):
        validate_fields(Outer, {"inner": {"levl": 1}}, "a.")
    assert list(check_bounds(Outer())) == []
    assert [line.partition(" ")[0] for line in check_bounds(Outer(0, Inner(0.0)))] == [
        "count=0",
        "inner.level=0.0",
    ]


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner, max_size=3)))
def test_interpolations_and_invalid_characters_are_found_at_any_depth(value: Any) -> None:
    text = str(value)
    problems = list(find_interpolations({"part": [value, "${oc.env:HOME}"]}))
    assert problems[0].startswith("part: interpolation")
    if "\0" not in text and "${" not in text and "\\u0000" not in text and "x00" not in text:
        assert not list(find_interpolations({"part": value}))


@given(st.text() | st.lists(st.integers(), max_size=50) | st.floats(allow_nan=False))
def test_a_formatted_value_is_short(value: Any) -> None:
    assert len(format_value(value)) <= 60
