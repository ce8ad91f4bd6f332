"""The bound of a regression: the log evidence at the posterior, lower elsewhere."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from bythebook.models.regression.gaussian_bound import bound, example


def test_the_gap_is_the_divergence_from_the_posterior():
    rng = np.random.default_rng(74)
    Phi, t, s2 = rng.standard_normal((9, 3)), rng.standard_normal(9), 0.4
    V = np.linalg.solve(np.eye(3) + Phi.T @ Phi / s2, np.eye(3))
    m = V @ Phi.T @ t / s2
    evidence = multivariate_normal.logpdf(t, np.zeros(9), s2 * np.eye(9) + Phi @ Phi.T)
    assert bound(Phi, t, s2, m, V) == pytest.approx(evidence, abs=1e-10)
    for _ in range(10):
        m2 = m + rng.standard_normal(3)
        V2 = V * rng.uniform(0.3, 3)
        precision = np.linalg.solve(V, np.eye(3))
        kl = np.trace(precision @ V2) - 3 + (m2 - m) @ precision @ (m2 - m)
        kl += np.linalg.slogdet(V)[1] - np.linalg.slogdet(V2)[1]
        assert bound(Phi, t, s2, m2, V2) == pytest.approx(evidence - kl / 2, abs=1e-9)


def test_an_example_knows_its_posterior_and_evidence():
    known = example(12, 3, 0.5, np.random.default_rng(0))
    Phi, t = known.Phi, known.t
    expected = multivariate_normal.logpdf(t, np.zeros(12), 0.5 * np.eye(12) + Phi @ Phi.T)
    assert known.log_evidence == pytest.approx(expected)
    np.testing.assert_allclose((2 * Phi.T @ Phi + np.eye(3)) @ known.V, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(known.m, 2 * known.V @ Phi.T @ t)
    assert known.bound(known.m, known.V) == pytest.approx(expected)
    assert known.bound(known.m + 0.1, known.V) < expected
