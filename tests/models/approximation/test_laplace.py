"""Laplace approximations: against Gaussians and adaptive quadrature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import quad

from bythebook.models.approximation.laplace import approximate, expected_sigmoid


def test_a_gaussian_is_its_own_approximation() -> None:
    mean, S = (
        np.array([1.0, -2.0, 0.5]),
        np.array([[2.0, 0.3, 0.0], [0.3, 1.0, 0.2], [0, 0.2, 0.7]]),
    )
    law = stats.multivariate_normal(mean, S)
    found = approximate(mean, -np.linalg.inv(S), law.logpdf(mean) + 3.7)
    assert_allclose(found.covariance, S, atol=1e-12)
    assert_allclose(found.log_evidence, 3.7, rtol=1e-12)  # of the density times e^3.7


def test_a_hessian_that_is_not_negative_definite_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        approximate(np.zeros(2), np.diag([-1.0, 1.0]), 0.0)


@pytest.mark.parametrize(
    ("mean", "variance"), [(0.0, 1.0), (2.0, 30.0), (-5.0, 0.01), (1.0, 400.0)]
)
def test_the_expected_sigmoid(mean: float, variance: float) -> None:
    sd = np.sqrt(variance)
    expected, _ = quad(
        lambda z: stats.norm.pdf(z) / (1 + np.exp(-(mean + sd * z))), -12, 12, points=[-mean / sd]
    )
    found = expected_sigmoid(np.array([mean]), np.array([variance]))
    assert_allclose(found, expected, rtol=1e-7)
