"""Slips of the pen: the name that was meant."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from experiments.contract.places import places
from experiments.contract.suggestions import meant

NAMES = ["polynomial_order", "ridge_path", "coin_game", "bias_variance"]  # far from one another


@given(st.sampled_from(NAMES), st.data())
def test_a_name_with_a_slip_in_it_is_found(name: str, data: st.DataObject) -> None:
    """A letter lost, doubled, or two of them swapped."""
    i = data.draw(st.integers(0, len(name) - 2))
    slips = [name[:i] + name[i + 1 :], name[: i + 1] + name[i:]]
    slips.append(name[:i] + name[i + 1] + name[i] + name[i + 2 :])
    for typed in slips:
        assert meant(typed, NAMES) == f" (did you mean '{name}'?)"


@given(st.text())
def test_nothing_is_said_where_nothing_is_near(typed: str) -> None:
    assume(not set(typed) & set("".join(NAMES)))
    assert meant(typed, NAMES) == ""


@pytest.mark.parametrize("name", list(places()))
def test_a_name_that_is_there_is_itself(name: str) -> None:
    assert meant(name, places()) == f" (did you mean '{name}'?)"
