"""Single factors: the own context fits best, and negative contexts are counted."""

from collections.abc import Callable

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.clutter_factors import ClutterFactors

Run = Callable[..., Outcome]


def test_factors_and_their_contexts(run: Run) -> None:
    found = run(ClutterFactors(points=12, sets=6, enumerated=[1, 3], cases=1))
    assert found["enumeration_gap"].values.max() < 1e-9
    assert found["negative_factors"].values.max() > 0
    own, other = found["own_error"].values, found["other_error"].values
    assert (own < other).mean() > 0.9
    theta = found["context"].coord("theta")
    assert_allclose(found["context"].values.sum(-1) * (theta[1] - theta[0]), 1, atol=1e-3)
    truth = found["true_factor"].values
    floor = 0.5 * stats.norm(0, 10**0.5).pdf(np.linspace(-20, 20, 81)).max()
    assert (truth > 0).all()
    assert (truth.min(-1) <= floor + 1e-12).all()
    near = found["context"].values > 0.9 * found["context"].values.max(-1, keepdims=True)
    gap = np.abs(found["fitted_factor"].values - truth)
    assert gap[near].max() < 0.05
