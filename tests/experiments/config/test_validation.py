"""Validation of configurations: types, bounds, and messages that name the setting."""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.job import PublishedResult
from bythebook.experiments.config.validation import (
    JobFactory,
    _load_cached,
    check_bounds,
    find_interpolations,
    format_value,
    load_job,
    validate_fields,
)
from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.knobs import knob
from bythebook.experiments.core.let import AS_WRITTEN, size_of
from bythebook.experiments.core.study import studies


def test_a_job_is_canonical_if_it_equals_that_of_its_file() -> None:
    name = "fcml/fig-1.15"
    entry = catalogue.load_experiment(name)
    factory = JobFactory(entry.study, entry.body, name, None)
    assert factory.job() == load_job(name)
    assert factory.job().canonical
    assert not factory.job({"seed": 1}).canonical
    assert not factory.job({"study.folds": [3]}).canonical
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


@pytest.mark.parametrize("field", ["value", "holds", "draws", "instead"])
def test_a_misspelt_quantity_is_corrected_before_any_run(field: str) -> None:
    claim = {
        "value": {"value": "min(lo_loss)", "printed": "3"},
        "holds": {"holds": "min(lo_loss) > 0"},
        "draws": {"draws": "lo_loss", "printed": "3"},
        "instead": {
            "holds": "min(loo_loss) < 0", "instead": "min(lo_loss) > 0",
            "expect": "erratum", "corrected": "3", "why": "a slip",
        },
    }[field]  # fmt: skip
    with pytest.raises(InputError) as refused:
        JobFactory("polynomial_order", {"claims": [{"says": "it", **claim}]}, None, None)
    (line,) = refused.value.problems
    assert line.startswith("claim 'it': ")
    assert "there is no quantity 'lo_loss' (did you mean 'loo_loss'?); allowed: targets," in line


def test_other_studies_may_compute_more_than_they_declare(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claim = {"says": "it", "holds": "unheard_of > 0"}
    monkeypatch.setattr(studies()["coin_game"], "declares_all", False)
    JobFactory("coin_game", {"claims": [claim]}, None, None)


CLAIM = {"says": "the loss falls", "holds": "gap(1, 2) > 0"}
LET = {"gap(i, j)": "loo_loss[i] - loo_loss[j]", "unused": "max(loo_loss)"}


def claims_of(let: Any, *claims: Mapping[str, Any]) -> tuple[Claim, ...]:
    content = {"let": let, "claims": list(claims)}
    return JobFactory("polynomial_order", content, None, None).published.claims


def test_a_claim_has_the_lines_of_let_that_it_uses() -> None:
    (claim,) = claims_of(LET, CLAIM)
    assert claim.let == {"gap(i, j)": "loo_loss[i] - loo_loss[j]"}
    recorded = PublishedResult(claims=(claim,)).content
    assert PublishedResult.from_record({**recorded, "source": {}}).claims == (claim,)
    assert claims_of({}, {**CLAIM, "holds": "loo_loss[1] > 0"})[0].let == {}


@pytest.mark.parametrize(
    ("let", "problem"),
    [
        ({"f": "g", "g": "f"}, "let: f -> g -> f is a cycle"),
        ({"mean": "1"}, "'mean' is a word of the language"),
        ({"f": 1}, 'let={"f":1}: 1 is not allowed; allowed: a mapping of names to expressions'),
        (["f"], "is not allowed; allowed: a mapping of names to expressions"),
        ({"gap(i)": "loo_loss[i]"}, "'gap(1, 2)' has the wrong arguments; allowed: gap(i)"),
        ({}, "there is no function 'gap'"),
    ],
)
def test_an_invalid_let_is_refused(let: Any, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        claims_of(let, CLAIM)
    assert problem in str(refused.value)


def test_a_declared_quantity_is_no_name_of_let() -> None:
    with pytest.raises(InputError, match="'loo_loss' is a quantity of the study"):
        JobFactory("polynomial_order", {"let": {"loo_loss": "1"}}, None, None)
    claim = {"says": "it", "holds": "best(lo_loss) > 0"}
    let = {"best(q)": "argmin(q)"}
    with pytest.raises(InputError, match="no quantity 'lo_loss'"):
        JobFactory("polynomial_order", {"let": let, "claims": [claim]}, None, None)


def test_fields_of_a_claim_have_the_names_of_the_file() -> None:
    (claim,) = claims_of({}, {"says": "it", "holds": "loo_loss < 1", "in": "most draws"})
    assert claim.quantifier == "most draws"
    (table,) = claims_of({}, {"says": "it", "values": {"loo_loss": {1: "2.0", 0.5: "3", "a": "4"}}})
    assert table.values == {"loo_loss": {"1": "2.0", "0.5": "3", "a": "4"}}
    for name, allowed in (("quantifier", "in"), ("let", "`let` of the file")):
        with pytest.raises(InputError, match=f"claims.{name} is not allowed; allowed: {allowed}"):
            claims_of({}, {**CLAIM, name: "most draws"})
    with pytest.raises(InputError, match=r"claims\.values"):
        claims_of({}, {"says": "it", "values": {"loo_loss": {1: 2.0}}})


# Expressions that are longer than a reader can follow. A line is removed when its expression gets
# shorter (running this file removes them), and none is added.


def is_long(text: str) -> bool:
    """Whether an expression is longer than 90 characters or has more than two comparisons."""
    if len(text) > AS_WRITTEN.chars:
        return True
    return size_of(ast.parse(text.strip(), mode="eval").body).comparisons > AS_WRITTEN.comparisons


def written_expressions(name: str) -> Iterator[str]:
    """The expressions of the claims of a file and of its `let`."""
    body = catalogue.load_experiment(name).body
    yield from body.get("let", {}).values()
    for claim in body.get("claims", []):
        yield from filter(None, map(claim.get, ("value", "holds", "draws", "instead")))
        yield from claim.get("values", {})


@pytest.mark.parametrize("name", catalogue.experiment_names())
def test_no_expression_is_long(name: str) -> None:
    """At most 90 characters and two comparisons; a longer one gets names in `let`."""
    assert [text for text in written_expressions(name) if is_long(text)] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a" * 90, False),
        ("a" * 91, True),
        ("a < b < c", False),
        ("a < b and b < c", False),
        ("a < b < c and c < d", True),
        ("all(a < b) and any(c == d) or e in (1, 2)", True),
    ],
)
def test_long_expressions_have_more_than_90_characters_or_two_comparisons(
    text: str, expected: bool
) -> None:
    assert is_long(text) is expected
