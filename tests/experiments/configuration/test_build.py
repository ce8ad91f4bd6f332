"""From plain values to a job: each of its type, within its bounds, or named in a line."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.configuration import catalogue
from experiments.configuration.build import (
    Template,
    _stated,
    bounded,
    checked,
    crooked_parts,
    experiment_job,
    shown,
)
from experiments.contract.errors import BadInput
from experiments.contract.knobs import knob


def test_a_job_is_canonical_only_as_its_file_states_it() -> None:
    name = "fcml/fig-1.15"
    entry = catalogue.read(name)
    template = Template(entry.study, entry.body, name, None)
    assert template.job() == experiment_job(name)
    assert template.job().canonical
    assert not template.job({"seed": 1}).canonical
    assert not template.job({"study.folds": 3}).canonical
    assert template.job({"study.folds": experiment_job(name).study.folds}).canonical  # type: ignore[attr-defined]


def test_jobs_of_one_template_share_no_list() -> None:
    template = Template("polynomial_order", {}, None, None)
    first, second = template.job().study, template.job().study
    first.orders.append(99)  # type: ignore[attr-defined]
    assert 99 not in second.orders  # type: ignore[attr-defined]


OVERRIDES = {
    "seed=abc": "seed=abc is not allowed; allowed: int, >= 0",
    "seed=null": "seed=null is not allowed; allowed: int, >= 0",
    "seed=${seed}": "'seed=${seed}' calls a resolver or another setting",
    "study.lambdas=1": "study.lambdas=1 is not allowed; allowed: list[float], >= 0",
    "limit=1": "limit=1 is not a mapping; allowed: limit with seconds, memory_gb",
    "launch.workers=0": "launch.workers=0 is not allowed; allowed: int, >= 1",
    "launch.cluster=pbs": "launch.cluster=pbs is not allowed; allowed: str, one of slurm, local",
    "tracking.kind=cloud": "tracking.kind=cloud is not allowed; allowed: str, one of local, server",
    "claims=[{metrc:a}]": "there is no 'claims.metrc'; allowed here: says, value",
    "source.book=bible": "source.book=bible; allowed: fcml, prml",
    "source.grade=good": "source.grade=good; allowed: ",
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
    f"{STUDY}hydra: {{}}\n": "states science",
    f"{STUDY}outputs: /tmp\n": "states science",
    f"{STUDY}source: {{title: no book}}\n": "source.book=; allowed: fcml",
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_faulty_file_is_named_with_its_fault(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "experiment" / "fcml"
    folder.mkdir(parents=True)
    (folder / "broken.yaml").write_text(f"# @package _global_\n{text}")
    monkeypatch.setattr(catalogue, "ROOT", tmp_path)
    monkeypatch.setattr(catalogue, "names", lambda: ["fcml/broken"])
    with pytest.raises(BadInput, match=FAULTS[text]) as caught:
        _stated.__wrapped__("fcml/broken")
    assert all(line.startswith("experiment/fcml/broken.yaml: ") for line in caught.value.problems)


@dataclass
class Inner:
    """A part with a bound."""

    level: float = knob(1.0, "a level", above=0)


@dataclass
class Outer:
    """Parts within parts."""

    count: int = knob(1, "a count", at_least=1)
    inner: Inner = field(default_factory=Inner)


def test_parts_within_parts_are_checked_by_their_full_names() -> None:
    assert checked(Outer, {"inner": {"level": 2}}, "a.") == {"inner": Inner(2.0)}
    with pytest.raises(BadInput, match=r"a\.inner\.level=x is not allowed; allowed: float, > 0"):
        checked(Outer, {"inner": {"level": "x"}}, "a.")
    with pytest.raises(BadInput, match=r"there is no 'a\.inner\.levl' \(did you mean 'level'\?\)"):
        checked(Outer, {"inner": {"levl": 1}}, "a.")
    assert list(bounded(Outer())) == []
    assert [line.partition(" ")[0] for line in bounded(Outer(0, Inner(0.0)))] == [
        "count=0",
        "inner.level=0.0",
    ]


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner, max_size=3)))
def test_what_calls_or_is_no_text_is_found_at_any_depth(value: Any) -> None:
    text = str(value)
    found = list(crooked_parts({"part": [value, "${oc.env:HOME}"]}))
    assert found[0].startswith("part calls a resolver")
    if "\0" not in text and "${" not in text and "\\u0000" not in text and "x00" not in text:
        assert not list(crooked_parts({"part": value}))


@given(st.text() | st.lists(st.integers(), max_size=50) | st.floats(allow_nan=False))
def test_a_shown_value_is_short(value: Any) -> None:
    assert len(shown(value)) <= 60
