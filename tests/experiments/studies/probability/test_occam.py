"""Data sets as sequences: invalid settings, and sums that are one."""

from collections.abc import Callable

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.probability.occam import Occam

Run = Callable[..., Outcome]


def test_a_chain_is_shorter_than_its_sequence() -> None:
    with pytest.raises(InputError, match=r"allowed: < study\.length=3"):
        Occam(length=3, orders=[3])


def test_each_model_has_all_sequences(run: Run) -> None:
    found = run(Occam(length=4, orders=[0, 1]))
    assert found["probability"].values.sum(-1) == pytest.approx([1, 1, 1])
    known = found["probability"].sel(model="known coin").values
    assert known[[0, -1]] == pytest.approx([0.1**4, 0.9**4])
    # An unknown coin: k heads of four have the probability k! (4 - k)! / 5!
    assert found["probability"].sel(model="chain of order 0").values[1] == pytest.approx(6 / 120)
