"""Densities to be approximated: against scipy.stats and adaptive quadrature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from bythebook.models.approximation.laplace import approximate
from bythebook.models.approximation.targets import (
    Target,
    about_mode,
    beta,
    gamma,
    regression,
    total_variation,
)
from bythebook.models.classification.logistic import Posterior

CASES = [
    (gamma(20.0, 0.5), stats.gamma(20, scale=2)),
    (gamma(2.0, 100.0), stats.gamma(2, scale=0.01)),
    (beta(10.0, 12.0), stats.beta(10, 12)),
    (beta(3.0, 19.0), stats.beta(3, 19)),
]


def variance(target: Target) -> float:
    return float(-1 / target.hessian[0, 0])


@pytest.mark.parametrize(("target", "law"), CASES)
def test_densities_and_their_modes(target: Target, law: stats.rv_continuous) -> None:
    y = law.ppf([0.01, 0.3, 0.5, 0.9])
    assert_allclose(target.log_g(y[:, None]), law.logpdf(y), rtol=1e-10)
    bounds = law.ppf([0.001, 0.999])
    top = minimize_scalar(lambda v: -law.logpdf(v), bounds=bounds, options={"xatol": 1e-10})
    assert_allclose(target.mode[0], top.x, rtol=1e-5)
    h = 1e-3 * law.std()
    second = law.logpdf(target.mode + h * np.array([-1, 0, 1])) @ [1, -2, 1] / h**2
    assert_allclose(target.hessian[0, 0], second, rtol=1e-4)
    assert_allclose([target.mean[0], target.covariance[0, 0]], law.stats(), rtol=1e-12)


@pytest.mark.parametrize(("target", "law"), CASES)
def test_total_variation_by_adaptive_quadrature(target: Target, law: stats.rv_continuous) -> None:
    mode, ends = target.mode[0], target.support[0]
    found, outside = total_variation(target, target.mode, np.array([[variance(target)]]))
    normal = stats.norm(mode, np.sqrt(variance(target)))
    low, high = mode - 12 * normal.std(), mode + 40 * normal.std()
    points = [*ends, mode, *law.ppf([0.05, 0.3, 0.7, 0.95])]
    points = [p for p in points if low < p < high]
    distance, _ = quad(
        lambda y: abs(law.pdf(y) - normal.pdf(y)), low, high, points=points, limit=400
    )
    assert_allclose(found, distance / 2, rtol=1e-4)
    assert_allclose(outside, 1 - (normal.cdf(ends[1]) - normal.cdf(ends[0])), atol=1e-12)


def test_figure_4_5() -> None:
    # FCML 4.4.1: mode (alpha - 1) / beta and variance (alpha - 1) / beta^2
    assert gamma(20.0, 0.5).mode == 38
    assert_allclose(variance(gamma(20.0, 0.5)), 76, rtol=1e-12)
    poor = gamma(2.0, 100.0)
    _, outside = total_variation(poor, poor.mode, np.array([[variance(poor)]]))
    assert_allclose(outside, stats.norm.cdf(-1), rtol=1e-12)


def test_errors_about_the_mode_by_hand() -> None:
    target, distances = gamma(20.0, 0.5), np.array([0.5, 2.0])
    near = about_mode(target, np.array([[76.0]]), distances)
    law, sd = stats.gamma(20, scale=2), 76**0.5
    for sign, error in zip((1, -1), near.log_error, strict=True):
        drop = law.logpdf(38 + sign * distances * sd) - law.logpdf(38)
        assert_allclose(error, np.abs(drop + distances**2 / 2), rtol=1e-9)
    assert near.direction.tolist() == [0, 180]


def test_a_linear_regression_is_its_own_approximation() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 2))
    target = regression(Posterior(X, X @ [1.0, -0.5] + rng.standard_normal(12), 3.0, "real"))
    found = approximate(target.mode, target.hessian, float(target.log_g(target.mode)))
    assert_allclose(found.mean, target.mean, rtol=1e-10)
    assert_allclose(found.covariance, target.covariance, rtol=1e-10)
    assert_allclose(found.log_evidence, target.log_evidence, rtol=1e-9)
    distance, outside = total_variation(target, found.mean, found.covariance)
    assert distance < 1e-6
    assert outside == 0
    other = regression(Posterior(X, (X[:, 0] > 0).astype(float), 3.0))
    assert total_variation(other, other.mean, other.covariance)[0] > 0.01


def test_two_variables_are_looked_at_in_all_directions() -> None:
    """A Gaussian is its own parabola, and a fourth power adds what it adds."""
    S = np.array([[4.0, 1.0], [1.0, 0.5]])
    P, mode = np.linalg.inv(S), np.array([3.0, -1.0])
    L = np.linalg.cholesky(S)

    def log_g(x: np.ndarray) -> np.ndarray:
        off = x - mode
        return np.asarray(7.0 - np.einsum("...i,ij,...j->...", off, P, off) / 2)

    nowhere = np.tile([-np.inf, np.inf], (2, 1))
    target = Target(log_g, 0.0, mode, -P, mode, S, nowhere, nowhere)
    distances = np.array([0.5, 1.0, 3.0])
    near = about_mode(target, S, distances)
    assert_allclose(near.direction, 3.0 * np.arange(120), atol=1e-9)
    assert near.log_error.shape == (120, 3)
    assert near.log_error.max() < 1e-10

    def bent(x: np.ndarray) -> np.ndarray:
        z = np.linalg.solve(L, (x - mode).reshape(-1, 2).T).T.reshape(x.shape)
        return np.asarray(log_g(x) + 0.1 * z[..., 0] ** 4)

    found = about_mode(target._replace(log_g=bent), S, distances).log_error
    turn = np.radians(3.0 * np.arange(120))
    assert_allclose(found, 0.1 * np.outer(np.cos(turn), distances) ** 4, atol=1e-10)


def test_the_posterior_of_a_logistic_regression_by_a_grid() -> None:
    """Mean, covariance and evidence of two weights as sums over a fine grid."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((15, 2))
    t = (X[:, 0] + 0.5 * rng.standard_normal(15) > 0).astype(float)
    target = regression(Posterior(X, t, 2.0))
    axis = np.linspace(-8, 10, 721)
    w = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    f = w @ X.T
    log_p = stats.norm(0, np.sqrt(2)).logpdf(w).sum(1) - np.logaddexp(0, -f * (2 * t - 1)).sum(1)
    p = np.exp(log_p)
    cell = (axis[1] - axis[0]) ** 2
    assert_allclose(target.log_evidence, np.log(p.sum() * cell), rtol=1e-4)
    mean = p @ w / p.sum()
    assert_allclose(target.mean, mean, rtol=1e-3)
    assert_allclose(
        target.covariance, (p[:, None] * (w - mean)).T @ (w - mean) / p.sum(), rtol=1e-3
    )
    assert_allclose(target.mode, w[log_p.argmax()], atol=0.02)
    sd = np.sqrt(np.diag(np.linalg.inv(-target.hessian)))
    assert_allclose(target.reach, np.stack([target.mode - 12 * sd, target.mode + 12 * sd], axis=-1))
    inside = ((w > target.reach[:, 0]) & (w < target.reach[:, 1])).all(1)
    assert p[~inside].sum() < 1e-9 * p.sum()
