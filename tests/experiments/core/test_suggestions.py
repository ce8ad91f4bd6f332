"""Suggestions of the closest known name."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bythebook.experiments.core.registry import study_topics
from bythebook.experiments.core.suggestions import did_you_mean

NAMES = ["polynomial_order", "ridge_path", "coin_game", "bias_variance"]  # no two are similar


@given(st.sampled_from(NAMES), st.data())
def test_a_misspelt_name_gives_the_correct_one(name: str, data: st.DataObject) -> None:
    """One letter missing or doubled, or two letters swapped."""
    i = data.draw(st.integers(0, len(name) - 2))
    misspelt = [name[:i] + name[i + 1 :], name[: i + 1] + name[i:]]
    misspelt.append(name[:i] + name[i + 1] + name[i] + name[i + 2 :])
    for typed in misspelt:
        assert did_you_mean(typed, NAMES) == f" (did you mean '{name}'?)"


@given(st.text())
def test_no_suggestion_without_a_similar_name(typed: str) -> None:
    assume(not set(typed) & set("".join(NAMES)))
    assert did_you_mean(typed, NAMES) == ""


@pytest.mark.parametrize("name", list(study_topics()))
def test_a_known_name_suggests_itself(name: str) -> None:
    assert did_you_mean(name, study_topics()) == f" (did you mean '{name}'?)"
