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
    assert found["ones"].values.max() == 4
    drawn = found["drawn_probability"].values
    assert drawn == pytest.approx(found["probability"].values[2, :8], abs=0.005)
