"""Controls: one for every knob, of a form that can say all its values and no others."""

import dataclasses
from typing import Any

import pytest

from experiments.configuration import catalogue
from experiments.configuration.build import experiment_job
from experiments.contract.type_check import fit
from experiments.explore.controls import CHOICE, NUMBER, SEVERAL, SWITCH, TEXT, Control, controls


def by_name(name: str, **texts: str) -> dict[str, Control]:
    given = {key if key == "seed" else f"study.{key}": text for key, text in texts.items()}
    return {control.short: control for control in controls(experiment_job(name), given)}


def test_forms_follow_types_bounds_and_choices() -> None:
    found = by_name("fcml/fig-1.17")
    forms = {name: control.form for name, control in found.items()}
    assert forms["curve"] == CHOICE
    assert forms["data"] == CHOICE
    assert found["data"].optional
    assert forms["penalise_bias"] == SWITCH
    assert forms["lambdas"] == TEXT
    assert forms["noise_variance"] == NUMBER
    assert found["noise_variance"].optional
    assert forms["seed"] == NUMBER
    assert by_name("fcml/fig-1.15")["methods"].form == SEVERAL


@pytest.mark.parametrize("name", catalogue.names())
def test_every_knob_has_a_control_that_stands_at_the_books_setting(name: str) -> None:
    job = experiment_job(name)
    found = controls(job, {})
    names = {field.name for field in dataclasses.fields(job.study)} | {"seed"}
    assert {control.short for control in found} == names
    for control in found:
        assert not control.moved
        assert control.doc
        if control.form == CHOICE:
            assert control.book in control.choices or (control.optional and not control.book)
        if control.form == NUMBER and control.book:
            assert control.stops[control.place] == control.book
        if control.form == SEVERAL:
            assert set(control.chosen) <= set(control.choices)


@pytest.mark.parametrize("name", catalogue.names()[::7])
def test_a_slider_offers_allowed_numbers_only_and_some_room(name: str) -> None:
    job = experiment_job(name)
    fields: dict[str, Any] = {f.name: f for f in dataclasses.fields(job.study)}
    for control in controls(job, {}):
        if control.form != NUMBER or control.short == "seed":
            continue
        field = fields[control.short]
        values = [float(stop) for stop in control.stops]
        assert values == sorted(set(values))
        assert 2 <= len(values) <= 400
        for symbol, bound in field.metadata["bounds"]:
            low, high = values[0], values[-1]
            assert {
                ">": low > bound,
                ">=": low >= bound,
                "<": high < bound,
                "<=": high <= bound,
            }[symbol]
        if "int" in str(field.type):
            assert all(fit(int(stop), int) == int(stop) for stop in control.stops)


def test_a_control_stands_where_the_text_says_however_wrong() -> None:
    found = by_name("fcml/fig-1.17", curve="<b>", penalise_bias="maybe", noise="abc", orders="[")
    assert (found["curve"].form, found["curve"].text) == (CHOICE, "<b>")
    assert found["penalise_bias"].form == TEXT  # a box cannot say it
    assert found["noise"].text == "abc"
    assert found["noise"].place == 0
    assert all(found[name].moved for name in ("curve", "penalise_bias", "noise", "orders"))
    assert by_name("fcml/fig-1.15", methods='["nonsense"]')["methods"].form == TEXT


def test_what_the_file_states_comes_first() -> None:
    job = experiment_job("fcml/ex-2.4")
    stated = {"function", "low"}
    found = controls(job, {}, stated)
    assert {c.short for c in found[:3]} == {*stated, "seed"}
    assert [c.stated for c in found] == sorted((c.stated for c in found), reverse=True)


def test_boxes_keep_the_books_order() -> None:
    control = by_name("fcml/fig-1.15")["methods"]
    assert control.choices[: len(control.chosen)] == control.chosen
