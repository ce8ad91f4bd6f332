"""Arguments of calls, compared with Hydra: its parser reads the values as they were written."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.api import claims, runs, sweeps
from bythebook.experiments.api.arguments import (
    KNOB_PREFIX,
    resolve_target,
    split_swept,
    to_override,
    to_overrides,
    to_plain_value,
)
from bythebook.experiments.config.hydra_compose import hydra_composer, parse_overrides
from bythebook.experiments.config.validation import JobFactory
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.study import studies
from bythebook.experiments.sweeps.grid import GridBlock, SweepGrid, expand_sweep
from bythebook.experiments.sweeps.plan import SweepPlan

TEXT = st.text(st.characters(exclude_categories=["C"]), max_size=12)  # no control characters
ANY = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.floats(allow_nan=False), TEXT
)


@given(ANY | st.lists(ANY, max_size=3))
def test_a_written_value_is_read_back(value: Any) -> None:
    read = parse_overrides([f"x={to_override(value)}"])[0]
    assert not read.is_sweep_override()
    assert read.value() == value
    assert type(read.value()) is type(value)


@given(st.lists(ANY, min_size=2, max_size=4))
def test_the_values_of_a_sweep_are_written_as_by_hydra(values: list[Any]) -> None:
    read = parse_overrides([f"x={','.join(map(to_override, values))}"])[0]
    assert list(read.sweep_string_iterator()) == [to_override(value) for value in values]


@pytest.mark.parametrize(
    ("text", "bare"),
    [("olympics-100m-men", True), ("a b", False), ("3", False), ("true", False), ("", False)],
)
def test_text_has_quotes_only_if_necessary(text: str, bare: bool) -> None:
    assert (to_override(text) == text) is bare


def test_a_backslash_before_a_quote() -> None:
    for text in (r"it\'s", "a\\", "\\", "''", r"a\\'b,"):
        assert parse_overrides([f"x={to_override(text)}"])[0].value() == text


SWEEPS: dict[str, tuple[str, dict[str, Any]]] = {
    "study=polynomial_order study.noise=0.1,0.3 seed=range(0,20)": (
        "polynomial_order",
        {"noise": [0.1, 0.3], "seed": range(20)},
    ),
    "study=polynomial_order seed=3,1 study.noise=1e-3,2": (
        "polynomial_order",
        {"seed": np.array([3, 1]), "noise": (0.001, 2)},
    ),
    "experiment=fcml/fig-1.15 study.orders=[1,2],[1,2,3] study.partitions=5": (
        "fcml/fig-1.15",
        {"orders": [[1, 2], [1, 2, 3]], "partitions": 5},
    ),
    "experiment=fcml/fig-1.15 study.data=olympics-100m-men,olympics-100m-women": (
        "fcml/fig-1.15",
        {"data": ["olympics-100m-men", "olympics-100m-women"]},
    ),
    "study=ridge_path study.penalise_bias=true,false study.data=null,nile": (
        "study:ridge_path",
        {"penalise_bias": [True, False], "study.data": [None, "nile"]},
    ),
    "study=ridge_path study.noise=range(0,0.5,0.1) study.lambdas=[0,1]": (
        "ridge_path",
        {"noise": np.arange(5) / 10, "lambdas": [0, 1]},
    ),
    "study=ridge_path 'seed=choice(4)'": ("ridge_path", {"seed": [4]}),
}


@pytest.mark.parametrize("line", SWEEPS)
def test_a_call_and_a_command_line_give_the_same_sweep(line: str) -> None:
    what, knobs = SWEEPS[line]
    words = line.replace("'", "").split()
    with hydra_composer(parse_overrides(words), []) as compose:
        typed = SweepPlan.from_cells(expand_sweep(words, compose)[0], words, None)

    target = resolve_target(what)
    fixed, axes = split_swept(target, target.overrides(knobs, ()))
    values = [[(key, to_override(v), v) for v in swept] for key, swept in axes.items()]
    grid = SweepGrid([GridBlock(target.job_factory(fixed, None), {}, values)], list(axes))
    called = SweepPlan.from_cells(grid, words, None)
    assert (called.id, called.keys, called.swept, called.title) == (
        *(typed.id, typed.keys, typed.swept),
        typed.title,
    )
    again = to_overrides(target, fixed, axes)  # the overrides of the call give the same sweep
    with hydra_composer(parse_overrides(again), []) as compose:
        assert SweepPlan.from_cells(expand_sweep(again, compose)[0], again, None).id == typed.id


def test_consecutive_integers_are_written_as_a_range() -> None:
    target = resolve_target("ridge_path")
    assert to_overrides(target, {"study.n": 5}, {"seed": list(range(3, 9))}) == [
        *("study=ridge_path", "study.n=5", "seed=range(3,9)")
    ]
    assert to_overrides(target, {}, {"seed": [0, 2, 4]})[1] == "seed=0,2,4"
    assert to_overrides(target, {}, {"seed": [True]})[1] == "seed=choice(True)"


@pytest.mark.parametrize("what", ["fcml/fig-1.15", "ridge_path"])
def test_a_job_factory_equals_the_one_that_hydra_composes(what: str) -> None:
    target = resolve_target(what)
    with hydra_composer(parse_overrides([target.override]), []) as compose:
        composed = compose([target.override]).job_factory
    factory = target.job_factory({}, None)
    assert isinstance(factory, JobFactory)
    assert factory.job() == composed.job()
    assert factory.job().key == composed.job().key
    assert factory.job().canonical is (what == "fcml/fig-1.15")


def test_arrays_ranges_and_columns_become_lists() -> None:
    mixed = {"a": np.float64(0.5), "b": [np.arange(2), (1, range(2))], "c": pd.Series([1.5])}
    plain = to_plain_value("x", mixed)
    assert plain == {"a": 0.5, "b": [[0, 1], [1, [0, 1]]], "c": [1.5]}
    assert json.loads(json.dumps(plain)) == plain
    assert type(to_plain_value("x", np.int64(3))) is int
    with pytest.raises(InputError, match=r"^x has the type object; allowed: numbers"):
        to_plain_value("x", [object()])


@pytest.mark.parametrize(
    ("value", "is_swept"),
    [
        ([0.1, 0.2], True),
        ([0.1], True),
        ([], True),  # a sweep without cells
        (0.1, False),
        (["a", "b"], False),  # invalid as one value
    ],
)
def test_a_list_for_a_number_is_swept(value: Any, is_swept: bool) -> None:
    fixed, axes = split_swept(resolve_target("ridge_path"), {"study.noise": value})
    assert (axes, fixed) == (
        ({"study.noise": value}, {}) if is_swept else ({}, {"study.noise": value})
    )


@pytest.mark.parametrize(
    ("value", "is_swept"), [([1, 2], False), ([[1], [2]], True), ([1, 2.5], False), ([], False)]
)
def test_a_list_for_a_list_is_one_value(value: Any, is_swept: bool) -> None:
    _, axes = split_swept(resolve_target("fcml/fig-1.15"), {"study.orders": value})
    assert bool(axes) is is_swept


def test_one_knob_has_the_name_of_a_keyword_and_needs_its_full_name() -> None:
    target = resolve_target("state_space_em")  # the one study with a knob called `outputs`
    assert target.overrides({"study.outputs": 2}, ()) == {"study.outputs": 2}
    hidden = {*runs.KEYWORDS, *sweeps.KEYWORDS, "seed"}
    clashes = {
        (name, knob)
        for name in studies()
        for knob in studies()[name].__dataclass_fields__
        if knob in hidden
    }
    assert clashes == {("state_space_em", "outputs")}


@pytest.mark.parametrize(
    ("what", "knobs", "line"),
    [
        ("fcml/fig-1.51", {}, "there is no result or study 'fcml/fig-1.51' (did you mean"),
        ("ridge_pth", {}, "'ridge_pth' (did you mean 'ridge_path'?)"),
        (15, {}, "15 is not a name; allowed: a result ('fcml/fig-1.15') or a study"),
        ("ridge_path", {"lamdas": [1]}, "no knob 'lamdas' (did you mean 'lambdas'?); allowed: "),
        ("ridge_path", {"study.lamdas": [1]}, "no knob 'study.lamdas' (did you mean 'lambda"),
        ("ridge_path", {"forse": True}, "no knob 'forse' (did you mean 'force'?)"),
        ("ridge_path", {"sed": 3}, "study ridge_path has no knob 'sed' (did you mean 'seed'?)"),
    ],
)
def test_the_message_for_a_typo_suggests_a_name(
    what: Any, knobs: dict[str, Any], line: str
) -> None:
    with pytest.raises(InputError) as error:
        resolve_target(what).overrides(knobs, runs.KEYWORDS)
    assert line in str(error.value)
    assert KNOB_PREFIX not in line or "study" in line


def test_the_keywords_are_those_of_the_functions() -> None:
    for call, keywords in ((runs.run, runs.KEYWORDS), (sweeps.sweep, sweeps.KEYWORDS)):
        assert set(call.__kwdefaults__ or ()) == set(keywords)
    assert "jobs" in (claims.reproduce.__kwdefaults__ or ())


def test_a_data_dir_that_does_not_exist_is_rejected() -> None:
    with pytest.raises(InputError, match=r"^data_dir=/nowhere/at/all is not a folder$"):
        resolve_target("ridge_path").job_factory({}, "/nowhere/at/all")
