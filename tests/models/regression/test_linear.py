"""Least squares against exact rational arithmetic, the optimiser and NumPy's own solver."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import norm

from bythebook.models.datasets import load
from bythebook.models.regression.linear import (
    least_squares,
    line,
    line_and_sine,
    maximum_log_likelihood,
)
from bythebook.models.types import Floats


@pytest.fixture(scope="module", params=["olympics-100m-men", "olympics-100m-women"])
def olympics(request: pytest.FixtureRequest) -> tuple[Floats, Floats]:
    return load(request.param).xt


class ExactLine:
    """The line of the printed decimals, in rational arithmetic."""

    def __init__(self, x: Floats, t: Floats) -> None:
        xs, ts = ([Fraction(str(v)) for v in values.tolist()] for values in (x, t))
        n = len(xs)
        mean_x, mean_t = sum(xs) / n, sum(ts) / n
        self.numerator = sum(a * b for a, b in zip(xs, ts, strict=True)) / n - mean_x * mean_t
        self.denominator = sum(a * a for a in xs) / n - mean_x**2
        self.slope = self.numerator / self.denominator
        self.intercept = mean_t - self.slope * mean_x
        errors = [b - self.intercept - self.slope * a for a, b in zip(xs, ts, strict=True)]
        self.sigma2 = sum(e * e for e in errors) / n
        # (Phi^T Phi)^-1 of a line, written out: the determinant is n^2 times the denominator.
        inverse = [[sum(a * a for a in xs), -sum(xs)], [-sum(xs), Fraction(n)]]
        scale = self.sigma2 / (n * n * self.denominator)
        self.covariance = [[float(scale * entry) for entry in row] for row in inverse]


def test_the_line_is_that_of_exact_arithmetic(olympics: tuple[Floats, Floats]) -> None:
    x, t = olympics
    expected, fit = ExactLine(x, t), least_squares(line(x), t)
    assert_allclose(fit.w, [float(expected.intercept), float(expected.slope)], rtol=1e-11)
    assert_allclose(fit.sigma2, float(expected.sigma2), rtol=1e-11)
    assert_allclose(fit.covariance, expected.covariance, rtol=1e-8)
    assert_allclose(fit.residuals, t - fit.w[0] - fit.w[1] * x, atol=1e-11)


def test_least_squares_maximises_the_likelihood(olympics: tuple[Floats, Floats]) -> None:
    x, t = olympics
    centred = x - x.mean()  # for the optimiser; the slope and the noise do not change

    def loss(parameters: Floats) -> float:
        intercept, slope, log_sigma = parameters
        mean = intercept + slope / 100 * centred
        return -float(norm.logpdf(t, mean, np.exp(log_sigma)).sum())

    best = minimize(loss, np.array([t.mean(), 0.0, 0.0]), method="BFGS", options={"gtol": 1e-6})
    fit = least_squares(line(x), t)
    assert_allclose(best.x[1] / 100, fit.w[1], rtol=1e-5)
    assert_allclose(best.x[0] - best.x[1] / 100 * x.mean(), fit.w[0], rtol=1e-5)
    assert_allclose(np.exp(2 * best.x[2]), fit.sigma2, rtol=1e-4)
    assert_allclose(-best.fun, maximum_log_likelihood(fit.sigma2, len(t)), rtol=1e-8)


def test_any_columns_against_lstsq_and_the_pseudo_inverse() -> None:
    rng = np.random.default_rng(2)
    Phi = rng.normal(size=(40, 4)) * [1, 100, 1e-3, 1]
    t = rng.normal(size=40)
    fit = least_squares(Phi, t)
    assert_allclose(fit.w, np.linalg.lstsq(Phi, t, rcond=None)[0], rtol=1e-9)
    root = np.linalg.pinv(Phi, rcond=1e-15)
    assert_allclose(fit.covariance, fit.sigma2 * root @ root.T, rtol=1e-9)
    assert_allclose(Phi.T @ fit.residuals, np.zeros(4), atol=1e-10)


def test_covariance_is_the_spread_of_refits() -> None:
    """FCML 2.9: weights fitted to new noise scatter by sigma^2 (Phi^T Phi)^-1."""
    rng = np.random.default_rng(3)
    x, sigma = np.linspace(0, 1, 12), 0.5
    Phi = line(x)
    t = (Phi @ [1.0, -2.0])[:, np.newaxis] + rng.normal(scale=sigma, size=(12, 4000))
    spread = np.cov(np.linalg.lstsq(Phi, t, rcond=None)[0])
    fit = least_squares(Phi, t[:, 0])
    stated = fit.covariance / fit.sigma2 * sigma**2
    # The standard error of a variance from 4000 draws is sqrt(2 / 4000) = 2.2 % of it.
    assert_allclose(spread, stated, rtol=0.09)


def test_the_sine_is_found_again() -> None:
    x = np.linspace(1900, 2000, 30)
    t = 3 - 0.01 * x + 0.7 * np.sin((x - 2660) / 4.3)
    fit = least_squares(line_and_sine(x, 2660, 4.3), t)
    assert_allclose(fit.w, [3, -0.01, 0.7], rtol=1e-9)
    assert maximum_log_likelihood(0.0, 30) == np.inf  # an exact fit
