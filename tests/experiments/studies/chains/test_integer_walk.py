"""Study `integer_walk`: settings and results."""

from collections.abc import Callable

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.chains.integer_walk import IntegerWalk


def test_times_count_from_one(run: Callable[..., Outcome]) -> None:
    found = run(IntegerWalk(ups=[0.5, 0.9], stay=0.0, times=5, walks=2))
    assert found["expected_square"].sel(up=0.5).values.tolist() == [0, 1, 2, 3, 4]
    assert found["expected_square"].coord("time").tolist() == [1, 2, 3, 4, 5]
    assert found["path"].values.shape == (2, 2, 5)
    assert (found["path"].values[..., 0] == 0).all()
