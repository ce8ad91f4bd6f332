"""Study `mean_and_precision`: invalid settings, and recorded quantities of each prior."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.mean_and_precision import MeanAndPrecision

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"constants": [0.0, 1.0]}, "four"),
        ({"constants": [0.0, 1.0, -1.0, 1.0]}, "not negative"),
        ({"constants": [0.0] * 4, "points": [1, 3]}, "2 and more"),
        ({"constants": [0.0] * 4, "sweeps": 10}, "proper"),
    ],
)
def test_what_makes_no_sense(knobs: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        MeanAndPrecision(**knobs)


def test_bounds_from_several_guesses(run: Run) -> None:
    found = run(MeanAndPrecision(points=[6], repetitions=2, first_precisions=[0.1, 5.0]))
    assert (np.diff(found["bound_history"].values, axis=2) > -1e-9).all()
    bound = found["bound"].values
    assert (bound >= found["bound_history"].values[:, :, -1]).all()
    assert_allclose(bound[0, 0], bound[0, 1])
    mu, tau = found["posterior"].coord("mu"), found["posterior"].coord("tau")
    p, q = found["posterior"].values, found["factorised"].values[-1]
    for density in (p, q):
        mass = density * tau[:, None]  # the grid is even in the logarithm
        assert_allclose((mass.sum(0) @ mu) / mass.sum(), found["q_mean"].values[0, 0], rtol=1e-3)


def test_without_a_prior(run: Run) -> None:
    found = run(MeanAndPrecision(constants=[0.0] * 4, points=[4], repetitions=3))
    assert "bound" not in found
    assert_allclose(1 / found["tau_mean"].values, found["biased_variance"].values)


def test_gibbs_is_recorded_with_its_error(run: Run) -> None:
    knobs: dict[str, Any] = {"prior": "independent", "constants": [0.0, 4.0, 3.0, 2.0]}
    found = run(MeanAndPrecision(**knobs, points=[1], repetitions=2, sweeps=400))
    off = np.abs(found["gibbs_mean"].values - found["exact_mean"].values)
    assert (off < 6 * found["gibbs_error"].values).all()
