"""Plain values and their types: taken as they stand, or not at all."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from experiments.contract.type_check import Unfit, built, fit


@dataclass
class Thing:
    size: float = 1
    names: list[str] = field(default_factory=list)
    grid: list[list[float]] = field(default_factory=lambda: [[0, 1]])
    most: int | None = None


def test_whole_numbers_stand_for_floats_at_any_depth() -> None:
    thing = built(Thing, {"grid": [[2], [0.5, 3]], "most": 4})
    assert repr(thing) == "Thing(size=1.0, names=[], grid=[[2.0], [0.5, 3.0]], most=4)"
    assert repr(built(Thing, {})) == "Thing(size=1.0, names=[], grid=[[0.0, 1.0]], most=None)"


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
def test_what_is_not_of_the_type_is_not_taken(value: Any, kind: Any) -> None:
    with pytest.raises(Unfit):
        fit(value, kind)


@pytest.mark.parametrize("content", [{"sise": 1}, ["size"], {"grid": [["1"]]}])
def test_a_field_that_is_not_there_is_not_taken(content: Any) -> None:
    with pytest.raises(Unfit):
        built(Thing, content)
