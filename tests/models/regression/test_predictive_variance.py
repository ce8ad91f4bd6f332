"""Predictions and their variance against plain matrices of powers, and against simulation."""

import numpy as np
from numpy.testing import assert_allclose

from bythebook.models.regression.predictive_variance import predict, ranges, sample_functions
from bythebook.models.types import Floats


def by_powers(x: Floats, t: Floats, order: int, new: Floats) -> tuple[Floats, Floats, float]:
    """FCML 2.50 and 2.51 as they are written."""
    X, Z = x[:, None] ** np.arange(order + 1), new[:, None] ** np.arange(order + 1)
    inverse = np.linalg.inv(X.T @ X)
    w = inverse @ X.T @ t
    sigma2 = float(np.mean((t - X @ w) ** 2))
    return Z @ w, sigma2 * np.einsum("ni,ij,nj->n", Z, inverse, Z), sigma2


def test_every_order_of_every_data_set_with_a_gap() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 3, (4, 40))
    t = x**3 - x + rng.normal(size=x.shape)
    keep = (x < 0) | (x > 1)
    new = np.linspace(-2, 3, 9)
    found = predict(x, t, keep, 5, new)
    assert found.mean.shape == found.variance.shape == found.basis.shape == (4, 6, 9)
    for s in range(4):
        for order in (0, 1, 3, 5):
            mean, variance, sigma2 = by_powers(x[s, keep[s]], t[s, keep[s]], order, new)
            assert_allclose(found.mean[s, order], mean, rtol=1e-8, atol=1e-8)
            assert_allclose(found.variance[s, order], variance, rtol=1e-7)
            assert_allclose(found.sigma2[s, order], sigma2, rtol=1e-9)


def test_years_lose_no_digits() -> None:
    """The fit of order eight passes through a polynomial of that order, for any range."""
    x = np.arange(1896.0, 2012.0, 4.0)[None]
    unit = (x - 1954) / 58
    found = predict(x, unit**8 - unit**3, np.ones(x.shape, dtype=bool), 8, np.array([1900.0, 1954]))
    assert_allclose(found.mean[0, 8], [(54 / 58) ** 8 + (54 / 58) ** 3, 0], atol=1e-9)
    assert found.sigma2[0, 8] < 1e-20


def test_functions_have_the_mean_and_covariance_of_the_fit() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, (2, 25))
    t = np.sin(3 * x) + 0.2 * rng.normal(size=x.shape)
    new = np.array([-1.0, 0.0, 0.7])
    found = predict(x, t, np.ones(x.shape, dtype=bool), 4, new)
    drawn = sample_functions(found, 3, 50_000, rng)
    assert drawn.shape == (2, 50_000, 3)
    X, Z = x[1][:, None] ** np.arange(4), new[:, None] ** np.arange(4)
    covariance = found.sigma2[1, 3] * Z @ np.linalg.inv(X.T @ X) @ Z.T
    error = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)) * 2 / 50_000)
    assert np.all(np.abs(np.cov(drawn[1].T) - covariance) < 5 * error)
    z = (drawn[1].mean(0) - found.mean[1, 3]) / np.sqrt(np.diag(covariance) / 50_000)
    assert np.max(np.abs(z)) < 5


def test_the_variance_is_that_of_predictions_from_new_data() -> None:
    """FCML 2.51 with the true noise variance, against refits by polyfit."""
    rng = np.random.default_rng(3)
    x, new = np.linspace(0, 1, 12), np.array([0.1, 1.2])
    noise = rng.normal(size=(12, 5000))
    fits = np.polynomial.polynomial.polyfit(x, noise, 2)
    spread = np.var(np.polynomial.polynomial.polyval(new, fits), axis=0)
    found = predict(x, noise[:, 0], np.ones(12, dtype=bool), 2, new)
    assert_allclose(found.variance[2] / found.sigma2[2], spread, rtol=0.1)


def test_ranges_by_a_loop_over_groups() -> None:
    values = np.random.default_rng(4).normal(size=(2, 6, 4))
    expected = [[max(c) - min(c) for c in group.T] for group in (values[1, :3], values[1, 3:])]
    assert_allclose(ranges(values, 3)[1], expected, rtol=1e-12)
