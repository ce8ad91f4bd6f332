"""Samples whose average is the bound, and posteriors near a fitted one."""

import numpy as np
import pytest

from bythebook.models.latent.variational_ppca import bound, fit, log_score, predict
from bythebook.models.latent.variational_ppca_checks import moved, sampled_bound


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(3)
    Y = rng.standard_normal((1, 12, 4)) @ np.diag([3.0, 2.0, 1.0, 1.0])
    seen = (rng.random(Y.shape) > 0.2).astype(float)
    return Y, seen, fit(Y, seen, 2, rng, tol=1e-10, max_iter=2000).q


def test_the_average_of_the_samples_is_the_bound(fitted):
    Y, seen, q = fitted
    values = sampled_bound(Y[0], seen[0], q, 4000, np.random.default_rng(0))
    error = values.std() / np.sqrt(len(values))
    assert values.mean() == pytest.approx(bound(q, seen, 1.0, 1.0)[0], abs=4 * error)
    assert error < 0.1


def test_one_factor_is_moved_at_a_time_and_lowers_the_bound(fitted):
    _, seen, q = fitted
    best, count = bound(q, seen, 1.0, 1.0)[0], 0
    for perturbed in moved(q, np.random.default_rng(0)):
        changed = [n for n in q._fields if not np.array_equal(getattr(q, n), getattr(perturbed, n))]
        assert len(changed) == 1
        assert bound(perturbed, seen, 1.0, 1.0)[0] < best, changed
        count += 1
        (name,) = changed
        old, new = getattr(q, name), getattr(perturbed, name)
        if name.startswith("mu"):  # by a hundredth, the standard deviation of the prior being one
            assert (new - old).std() == pytest.approx(0.01, rel=0.5)
        else:
            np.testing.assert_allclose(np.abs(new / old - 1), 0.05, rtol=1e-9)
    assert count == 18


def test_the_score_of_removed_values_by_hand(fitted):
    Y, seen, q = fitted
    mean, variance = predict(q)
    for treatment, spread in (("switches", variance), ("latent", 1 / q.tau + 0 * variance)):
        terms = -0.5 * np.log(2 * np.pi * spread) - (Y - mean) ** 2 / (2 * spread)
        expected = terms[seen == 0].mean()
        assert log_score(Y, seen == 0, q, treatment) == pytest.approx(expected)
