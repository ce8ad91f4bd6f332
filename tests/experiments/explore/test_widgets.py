"""Widgets: one for every parameter, for all its valid values."""

import dataclasses
from typing import Any

import pytest

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.type_check import convert
from bythebook.experiments.explore.widgets import (
    CHOICE,
    MULTI_CHOICE,
    NUMBER,
    SWITCH,
    TEXT,
    Widget,
    make_widgets,
)


def by_name(name: str, **texts: str) -> dict[str, Widget]:
    values = {key if key == "seed" else f"study.{key}": text for key, text in texts.items()}
    return {widget.short: widget for widget in make_widgets(load_job(name), values)}


def test_kinds_follow_types_bounds_and_choices() -> None:
    widgets = by_name("fcml/fig-1.17")
    kinds = {name: widget.kind for name, widget in widgets.items()}
    assert kinds["curve"] == CHOICE
    assert kinds["data"] == CHOICE
    assert widgets["data"].optional
    assert kinds["penalise_bias"] == SWITCH
    assert kinds["lambdas"] == TEXT
    assert kinds["noise"] == NUMBER
    assert not widgets["noise"].optional
    limit = by_name("fcml/fig-1.15")["holdout_from"]
    assert (limit.kind, limit.optional) == (NUMBER, True)
    assert kinds["seed"] == NUMBER
    assert by_name("fcml/6.3.5-em-local-optima")["starts"].kind == MULTI_CHOICE


@pytest.mark.parametrize("name", catalogue.experiment_names())
def test_every_parameter_has_a_widget_with_the_published_value(name: str) -> None:
    job = load_job(name)
    widgets = make_widgets(job, {})
    names = {field.name for field in dataclasses.fields(job.study)} | {"seed"}
    assert {widget.short for widget in widgets} == names
    for widget in widgets:
        assert not widget.is_changed
        assert widget.doc
        if widget.kind == CHOICE:
            assert widget.default in widget.choices or (widget.optional and not widget.default)
        if widget.kind == NUMBER and widget.default:
            assert widget.slider_values[widget.slider_position] == widget.default
        if widget.kind == MULTI_CHOICE:
            assert set(widget.chosen) <= set(widget.choices)


@pytest.mark.parametrize("name", catalogue.experiment_names()[::7])
def test_a_slider_has_valid_numbers_only(name: str) -> None:
    job = load_job(name)
    fields: dict[str, Any] = {f.name: f for f in dataclasses.fields(job.study)}
    for widget in make_widgets(job, {}):
        if widget.kind != NUMBER or widget.short == "seed":
            continue
        field = fields[widget.short]
        values = [float(text) for text in widget.slider_values]
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
            assert all(convert(int(text), int) == int(text) for text in widget.slider_values)


def test_a_widget_shows_an_invalid_text() -> None:
    widgets = by_name("fcml/fig-1.17", curve="<b>", penalise_bias="maybe", noise="abc", orders="[")
    assert (widgets["curve"].kind, widgets["curve"].value) == (CHOICE, "<b>")
    assert widgets["penalise_bias"].kind == TEXT  # a checkbox cannot show it
    assert widgets["noise"].value == "abc"
    assert widgets["noise"].slider_position == 0
    assert all(widgets[name].is_changed for name in ("curve", "penalise_bias", "noise", "orders"))
    assert by_name("fcml/6.3.5-em-local-optima", starts='["nonsense"]')["starts"].kind == TEXT


def test_parameters_in_the_file_come_first() -> None:
    job = load_job("fcml/ex-2.4")
    explicit = {"function", "low"}
    widgets = make_widgets(job, {}, explicit)
    assert {c.short for c in widgets[:3]} == {*explicit, "seed"}
    assert [c.explicit for c in widgets] == sorted((c.explicit for c in widgets), reverse=True)


def test_checkboxes_have_the_published_order() -> None:
    widget = by_name("fcml/6.3.5-em-local-optima")["starts"]
    assert widget.choices[: len(widget.chosen)] == widget.chosen
