"""Validation of plain values against type annotations."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from bythebook.experiments.core.type_check import InvalidValueError, build_dataclass, convert


@dataclass
class Thing:
    size: float = 1
    names: list[str] = field(default_factory=list)
    grid: list[list[float]] = field(default_factory=lambda: [[0, 1]])
    most: int | None = None


def test_integers_are_accepted_for_floats_at_any_depth() -> None:
    thing = build_dataclass(Thing, {"grid": [[2], [0.5, 3]], "most": 4})
    assert repr(thing) == "Thing(size=1.0, names=[], grid=[[2.0], [0.5, 3.0]], most=4)"
    assert (
        repr(build_dataclass(Thing, {}))
        == "Thing(size=1.0, names=[], grid=[[0.0, 1.0]], most=None)"
    )


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, int),
        (True, float),
        (1.0, int),
        ("1", int),
        (1, str),
        (None, int),
        (10**400, float),
        ([1, None], list[int]),
        ("ab", list[str]),
        ({"a": [1]}, dict[str, int]),
        ({1: 1}, dict[str, int]),
    ],
)
def test_a_value_of_another_type_is_refused(value: Any, kind: Any) -> None:
    with pytest.raises(InvalidValueError):
        convert(value, kind)


@pytest.mark.parametrize("content", [{"sise": 1}, ["size"], {"grid": [["1"]]}])
def test_an_unknown_field_is_refused(content: Any) -> None:
    with pytest.raises(InvalidValueError):
        build_dataclass(Thing, content)
