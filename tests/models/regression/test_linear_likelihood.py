"""The likelihood's derivatives by finite differences, the normal equations by fractions."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize
from scipy.stats import norm

from bythebook.models.datasets import load
from bythebook.models.regression.linear import least_squares, line
from bythebook.models.regression.linear_likelihood import (
    average_loss,
    hessian,
    hessian_by_differences,
    information,
    inverse,
    log_likelihood,
    loss_gradient,
    normal_equations,
    relative_likelihood,
    scaled_eigenvalues,
    sigma_curvature,
    sigma_curvature_by_differences,
    sigma_slopes,
    weighted_least_squares,
    weights_by_search,
)
from bythebook.models.types import Floats


@pytest.fixture(scope="module")
def sample() -> tuple[Floats, Floats]:
    rng = np.random.default_rng(1)
    X = np.column_stack([np.ones(30), rng.normal(size=(30, 2))])
    return X, X @ [1.0, -2.0, 0.5] + 0.7 * rng.normal(size=30)


def test_log_likelihood_is_the_sum_of_normal_densities(sample: tuple[Floats, Floats]) -> None:
    X, t = sample
    W = np.random.default_rng(2).normal(size=(4, 5, 3))
    found = log_likelihood(X, t, W, 0.3)
    assert found.shape == (4, 5)
    expected = norm.logpdf(t, X @ W[1, 2], np.sqrt(0.3)).sum()
    assert_allclose(found[1, 2], expected, rtol=1e-12)
    ratio = np.exp(expected - norm.logpdf(t, X @ W[0, 0], np.sqrt(0.3)).sum())
    assert_allclose(relative_likelihood(X, t, W, W[0, 0], 0.3)[1, 2], ratio, rtol=1e-9)


def test_second_derivatives_by_differences(sample: tuple[Floats, Floats]) -> None:
    X, t = sample
    w, h = np.array([0.3, -1.0, 1.0]), 1e-3
    eye = h * np.eye(3)
    f = lambda v: float(log_likelihood(X, t, v, 0.5))  # noqa: E731
    H = [
        [(f(w + a + b) - f(w + a - b) - f(w - a + b) + f(w - a - b)) / (4 * h * h) for b in eye]
        for a in eye
    ]
    assert_allclose(hessian(X, 0.5), H, rtol=1e-4, atol=1e-4)
    assert_allclose(information(X, 0.5), -np.array(H), rtol=1e-4, atol=1e-4)
    g = lambda s: norm.logpdf(t, X @ w, s).sum()  # noqa: E731
    second = (g(0.8 + h) - 2 * g(0.8) + g(0.8 - h)) / h**2
    assert_allclose(sigma_curvature(t - X @ w, 0.64), second, rtol=1e-4)


def test_differences_and_scaling_agree_with_the_plain_ways(sample: tuple[Floats, Floats]) -> None:
    X, t = sample
    fit = least_squares(X, t)
    by_differences = sigma_curvature_by_differences(X, t, fit.w, fit.sigma2)
    assert_allclose(by_differences, sigma_curvature(fit.residuals, fit.sigma2), rtol=1e-5)
    H = hessian(X, fit.sigma2)
    stretched = H * np.outer([1, 10, 1e4], [1, 10, 1e4])  # the same when brought to one scale
    correlations = H / np.sqrt(np.outer(np.diag(H), np.diag(H)))
    assert_allclose(scaled_eigenvalues(stretched), np.linalg.eigvalsh(correlations), rtol=1e-9)


def test_differences_in_the_weights(sample: tuple[Floats, Floats]) -> None:
    X, t = sample
    W = np.array([1.0, 30.0, 1e-3])
    found = hessian_by_differences(X * W, t, np.array([0.3, -0.1, 400.0]), 0.5)
    assert_allclose(found, -(X * W).T @ (X * W) / 0.5, rtol=1e-6, atol=1e-6)


def test_a_search_ends_at_least_squares(sample: tuple[Floats, Floats]) -> None:
    X, t = sample
    expected = np.linalg.lstsq(X, t, rcond=None)[0]
    for sigma2 in (0.01, 3.0):
        assert_allclose(weights_by_search(X, t, sigma2), expected, rtol=1e-5)


def test_slopes_in_sigma(sample: tuple[Floats, Floats]) -> None:
    """Against scipy's density and its own differences; only one of the two is the printed one."""
    X, t = sample
    w = np.array([1.0, -2.0, 0.5])
    log_l = lambda s: norm.logpdf(t, X @ w, s[0]).sum()  # noqa: E731
    slope = approx_fprime(np.array([0.9]), log_l)[0]
    found = sigma_slopes(X, t, w, 0.9)
    assert_allclose([found["printed"], found["log likelihood"]], slope, rtol=1e-4)
    assert_allclose(found["likelihood"], slope * np.exp(log_l([0.9])), rtol=1e-4)


def test_information_is_the_covariance_of_the_score() -> None:
    """And its inverse the covariance of the estimates: both by simulation."""
    rng = np.random.default_rng(3)
    X = line(np.linspace(-1, 2, 15))
    noise = 0.6 * rng.normal(size=(40_000, 15))
    scores = noise @ X / 0.36
    assert_allclose(scores.T @ scores / len(noise), information(X, 0.36), rtol=0.03)
    w = np.linalg.lstsq(X, noise.T, rcond=None)[0]
    assert_allclose(np.cov(w), inverse(information(X, 0.36)), rtol=0.03)


def test_the_inverse_of_a_badly_scaled_matrix() -> None:
    x, _ = load("olympics-100m-men").xt
    exact = [Fraction(len(x)), sum(map(Fraction, x.astype(int).tolist())), Fraction(0)]
    exact[2] = sum(Fraction(int(v)) ** 2 for v in x)
    det = exact[0] * exact[2] - exact[1] ** 2
    expected = [[exact[2] / det, -exact[1] / det], [-exact[1] / det, exact[0] / det]]
    found = inverse(line(x).T @ line(x))
    assert_allclose(found, np.array(expected, dtype=float), rtol=1e-6)


def test_the_normal_equations_of_table_1_1() -> None:
    """FCML 1.3.2 prints these matrices; here they are integers by hand."""
    x, t = load("fcml-toy-regression").xt
    steps = normal_equations(line(x), t)
    assert_allclose(steps.gram, [[3, 9], [9, 35]], rtol=1e-12)
    assert_allclose(steps.determinant, 24, rtol=1e-12)
    assert_allclose(24 * steps.inverse, [[35, -9], [-9, 3]], rtol=1e-12)
    assert_allclose(24 * steps.pseudo, [[26, 8, -10], [-6, 0, 6]], rtol=1e-12, atol=1e-12)
    assert_allclose(steps.w, [1.8, 3.1], rtol=1e-12)


def test_weighted_least_squares_against_repeated_points_and_an_optimiser(
    sample: tuple[Floats, Floats],
) -> None:
    X, t = sample
    alpha = np.random.default_rng(4).integers(1, 5, len(t))
    found = weighted_least_squares(X, t, alpha.astype(float)).w
    repeated = least_squares(np.repeat(X, alpha, axis=0), np.repeat(t, alpha)).w
    assert_allclose(found, repeated, rtol=1e-10)
    best = minimize(lambda w: float(average_loss(X, t, w, alpha)), np.zeros(3), tol=1e-10)
    assert_allclose(found, best.x, rtol=1e-5)


def test_the_gradient_by_differences(sample: tuple[Floats, Floats]) -> None:
    X, t = sample
    w, alpha = np.array([0.2, 0.4, -0.3]), np.linspace(0.5, 3, len(t))
    numeric = approx_fprime(w, lambda v: float(average_loss(X, t, v, alpha)), 1e-7)
    assert_allclose(loss_gradient(X, t, w, alpha), numeric, rtol=1e-5)
