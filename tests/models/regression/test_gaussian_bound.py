"""The bound of a regression: the log evidence at the posterior, lower elsewhere."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from models.regression.gaussian_bound import bound


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
