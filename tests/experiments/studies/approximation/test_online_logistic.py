"""Study `online_logistic`: settings and results."""

from collections.abc import Callable

import numpy as np

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.online_logistic import OnlineLogistic

Run = Callable[..., Outcome]


def test_updates_and_a_pass(run: Run) -> None:
    found = run(OnlineLogistic(cases=3, sets=2, points=40, dimensions=[2, 5]))
    printed, corrected = found["update_gap"].values.max(-1)
    assert corrected < 1e-6 < printed
    assert found["search_gap"].values.max() < 1e-4
    closed, by_hand = found["probit"].values
    assert abs(closed - by_hand).max() < 1e-8
    for what in ("input", "variance"):
        larger, smaller = (found[f"change_{size}_{what}"].values for size in ("larger", "smaller"))
        assert np.mean(larger >= smaller) == 1
    assert (found["online_error"].values < found["prior_error"].values).all()
