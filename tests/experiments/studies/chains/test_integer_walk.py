"""Walks as knobs."""

from collections.abc import Callable

from experiments.contract.outcome import Outcome
from experiments.studies.chains.integer_walk import IntegerWalk


def test_times_count_from_one(run: Callable[..., Outcome]) -> None:
    found = run(IntegerWalk(ups=[0.5, 0.9], stay=0.0, times=5, walks=2))
    assert found["expected_square"].at(up=0.5).values.tolist() == [0, 1, 2, 3, 4]
    assert found["expected_square"].along("time").tolist() == [1, 2, 3, 4, 5]
    assert found["path"].values.shape == (2, 2, 5)
    assert (found["path"].values[..., 0] == 0).all()
