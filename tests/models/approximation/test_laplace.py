"""Laplace approximations: against Gaussians, scipy.stats and adaptive quadrature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from models.approximation.laplace import approximate, beta, compare, expected_sigmoid, gamma


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


CASES = [
    (gamma(20.0, 0.5), stats.gamma(20, scale=2)),
    (gamma(2.0, 100.0), stats.gamma(2, scale=0.01)),
    (beta(10.0, 12.0), stats.beta(10, 12)),
    (beta(3.0, 19.0), stats.beta(3, 19)),
]


@pytest.mark.parametrize(("density", "law"), CASES)
def test_densities_and_their_modes(density: object, law: stats.rv_continuous) -> None:
    y = law.ppf([0.01, 0.3, 0.5, 0.9])
    assert_allclose(density.log_p(y), law.logpdf(y), rtol=1e-10)
    bounds = law.ppf([0.001, 0.999])
    top = minimize_scalar(lambda v: -law.logpdf(v), bounds=bounds, options={"xatol": 1e-10})
    assert_allclose(density.mode, top.x, rtol=1e-5)
    h = 1e-3 * law.std()
    second = law.logpdf(density.mode + h * np.array([-1, 0, 1])) @ [1, -2, 1] / h**2
    assert_allclose(density.curvature, second, rtol=1e-4)
    assert_allclose([density.mean, density.variance], law.stats(), rtol=1e-12)


@pytest.mark.parametrize(("density", "law"), CASES)
def test_total_variation_by_adaptive_quadrature(density: object, law: stats.rv_continuous) -> None:
    found = compare(density)
    normal = stats.norm(density.mode, np.sqrt(found.variance))
    low, high = density.mode - 12 * normal.std(), density.mode + 40 * normal.std()
    points = [*density.support, density.mode, *law.ppf([0.05, 0.3, 0.7, 0.95])]
    points = [p for p in points if low < p < high]
    distance, _ = quad(
        lambda y: abs(law.pdf(y) - normal.pdf(y)), low, high, points=points, limit=400
    )
    assert_allclose(found.total_variation, distance / 2, rtol=1e-4)
    inside = normal.cdf(density.support[1]) - normal.cdf(density.support[0])
    assert_allclose(found.outside, 1 - inside, atol=1e-12)


def test_figure_4_5() -> None:
    # FCML 4.4.1: mode (alpha - 1) / beta and variance (alpha - 1) / beta^2
    assert gamma(20.0, 0.5).mode == 38
    assert_allclose(compare(gamma(20.0, 0.5)).variance, 76, rtol=1e-12)
    assert_allclose(compare(gamma(2.0, 100.0)).outside, stats.norm.cdf(-1), rtol=1e-12)
