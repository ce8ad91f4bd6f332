"""What a call means, held against Hydra: values are written as its own parser reads them."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from experiments.configuration.build import Template
from experiments.configuration.compose import composer, parsed
from experiments.contract.errors import BadInput
from experiments.contract.study import studies
from experiments.interface import claims, runs, sweeps
from experiments.interface.given import KNOB, plain, subject, swept, typed, words
from experiments.sweeping.expand import Block, Grid, cells
from experiments.sweeping.plan import Plan

TEXT = st.text(st.characters(exclude_categories=["C"]), max_size=12)  # no control characters
ANY = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.floats(allow_nan=False), TEXT
)


@drawn(ANY | st.lists(ANY, max_size=3))
def test_what_is_written_is_read_as_it_was(value: Any) -> None:
    read = parsed([f"x={typed(value)}"])[0]
    assert not read.is_sweep_override()
    assert read.value() == value
    assert type(read.value()) is type(value)


@drawn(st.lists(ANY, min_size=2, max_size=4))
def test_the_values_of_a_sweep_are_called_what_hydra_calls_them(values: list[Any]) -> None:
    read = parsed([f"x={','.join(map(typed, values))}"])[0]
    assert list(read.sweep_string_iterator()) == [typed(value) for value in values]


@pytest.mark.parametrize(
    ("text", "bare"),
    [("olympics-100m-men", True), ("a b", False), ("3", False), ("true", False), ("", False)],
)
def test_text_is_bare_where_people_would_type_it_so(text: str, bare: bool) -> None:
    assert (typed(text) == text) is bare


def test_a_backslash_before_a_quote() -> None:
    for text in (r"it\'s", "a\\", "\\", "''", r"a\\'b,"):
        assert parsed([f"x={typed(text)}"])[0].value() == text


SWEEPS: dict[str, tuple[str, dict[str, Any]]] = {
    "study=order_recovery study.noise=0.1,0.3 seed=range(0,20)": (
        "order_recovery",
        {"noise": [0.1, 0.3], "seed": range(20)},
    ),
    "study=order_recovery seed=3,1 study.noise=1e-3,2": (
        "order_recovery",
        {"seed": np.array([3, 1]), "noise": (0.001, 2)},
    ),
    "experiment=fcml/fig-1.15 study.orders=[1,2],[1,2,3] study.folds=5": (
        "fcml/fig-1.15",
        {"orders": [[1, 2], [1, 2, 3]], "folds": 5},
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
def test_a_sweep_that_is_called_is_the_sweep_that_is_typed(line: str) -> None:
    what, knobs = SWEEPS[line]
    said = line.replace("'", "").split()
    with composer(parsed(said), []) as compose:
        theirs = Plan.of(cells(said, compose)[0], said, None)

    about = subject(what)
    fixed, axes = swept(about, about.changes(knobs, ()))
    values = [[(key, typed(v), v) for v in found] for key, found in axes.items()]
    grid = Grid([Block(about.template(fixed, None), {}, values)], list(axes))
    ours = Plan.of(grid, said, None)
    assert (ours.id, ours.keys, ours.swept, ours.title) == (
        *(theirs.id, theirs.keys, theirs.swept),
        theirs.title,
    )
    again = words(about, fixed, axes)  # and its own words say the same sweep once more
    with composer(parsed(again), []) as compose:
        assert Plan.of(cells(again, compose)[0], again, None).id == theirs.id


def test_whole_numbers_in_a_row_are_written_short() -> None:
    about = subject("ridge_path")
    assert words(about, {"study.n": 5}, {"seed": list(range(3, 9))}) == [
        *("study=ridge_path", "study.n=5", "seed=range(3,9)")
    ]
    assert words(about, {}, {"seed": [0, 2, 4]})[1] == "seed=0,2,4"
    assert words(about, {}, {"seed": [True]})[1] == "seed=choice(True)"


@pytest.mark.parametrize("what", ["fcml/fig-1.15", "ridge_path"])
def test_a_template_is_the_one_that_hydra_composes(what: str) -> None:
    about = subject(what)
    with composer(parsed([about.word]), []) as compose:
        theirs = compose([about.word]).template
    ours = about.template({}, None)
    assert isinstance(ours, Template)
    assert ours.job() == theirs.job()
    assert ours.job().key == theirs.job().key
    assert ours.job().canonical is (what == "fcml/fig-1.15")


def test_arrays_ranges_and_columns_become_plain() -> None:
    mixed = {"a": np.float64(0.5), "b": [np.arange(2), (1, range(2))], "c": pd.Series([1.5])}
    found = plain("x", mixed)
    assert found == {"a": 0.5, "b": [[0, 1], [1, [0, 1]]], "c": [1.5]}
    assert json.loads(json.dumps(found)) == found
    assert type(plain("x", np.int64(3))) is int
    with pytest.raises(BadInput, match=r"^x is of type object; allowed: numbers"):
        plain("x", [object()])


@pytest.mark.parametrize(
    ("value", "several"),
    [
        ([0.1, 0.2], True),  # of a number
        ([0.1], True),
        ([], True),  # and no cells, then
        (0.1, False),
        (["a", "b"], False),  # wrong as one value, and told so
    ],
)
def test_a_list_for_a_number_is_several_values(value: Any, several: bool) -> None:
    fixed, axes = swept(subject("ridge_path"), {"study.noise": value})
    assert (axes, fixed) == (
        ({"study.noise": value}, {}) if several else ({}, {"study.noise": value})
    )


@pytest.mark.parametrize(
    ("value", "several"), [([1, 2], False), ([[1], [2]], True), ([1, 2.5], False), ([], False)]
)
def test_a_list_for_a_list_is_one_value(value: Any, several: bool) -> None:
    _, axes = swept(subject("fcml/fig-1.15"), {"study.orders": value})
    assert bool(axes) is several


def test_no_setting_hides_a_knob_that_the_full_name_does_not_reach() -> None:
    about = subject("state_space_em")  # the one study with a knob called `outputs`
    assert about.changes({"study.outputs": 2}, ()) == {"study.outputs": 2}
    hidden = {*runs.SETTINGS, *sweeps.SETTINGS, "seed"}
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
        ("fcml/fig-1.51", {}, "there is no result and no study 'fcml/fig-1.51' (did you mean"),
        ("ridge_pth", {}, "'ridge_pth' (did you mean 'ridge_path'?)"),
        (15, {}, "15 is not a name; allowed: a result ('fcml/fig-1.15') or a study"),
        ("ridge_path", {"lamdas": [1]}, "there is no 'lamdas' (did you mean 'lambdas'?); ridge_"),
        ("ridge_path", {"study.lamdas": [1]}, "there is no 'study.lamdas' (did you mean 'lambda"),
        ("ridge_path", {"fesh": True}, "there is no 'fesh' (did you mean 'fresh'?)"),
        ("ridge_path", {"sed": 3}, "there is no 'sed' (did you mean 'seed'?)"),
    ],
)
def test_a_slip_is_told_with_what_was_meant(what: Any, knobs: dict[str, Any], line: str) -> None:
    with pytest.raises(BadInput) as told:
        subject(what).changes(knobs, runs.SETTINGS)
    assert line in str(told.value)
    assert KNOB not in line or "study" in line


def test_the_doors_have_the_settings_they_document() -> None:
    for call, settings in ((runs.run, runs.SETTINGS), (sweeps.sweep, sweeps.SETTINGS)):
        stated = set(call.__kwdefaults__ or ())
        assert stated == set(settings)
    assert "jobs" in (claims.reproduce.__kwdefaults__ or ())


def test_a_folder_of_originals_that_is_not_there() -> None:
    with pytest.raises(BadInput, match=r"^data_dir=/nowhere/at/all is not a folder$"):
        subject("ridge_path").template({}, "/nowhere/at/all")
