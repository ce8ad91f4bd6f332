"""Other parameters against scipy's likelihoods; a search against the formula."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.models.probability import estimates
from bythebook.models.probability.estimates import (
    bernoulli_gain,
    gaussian_gain,
    multinomial_by_search,
)
from bythebook.models.probability.gaussian import Gaussian, estimate
from bythebook.models.types import Floats


def test_the_share_of_ones_is_the_maximum() -> None:
    other, ones = np.linspace(0, 1, 101), np.array([0.0, 7.0, 20.0])
    gain = bernoulli_gain(ones, 20, other)
    assert gain.max() <= 1e-12
    assert_allclose(gain[[0, 1, 2], [0, 35, 100]], 0, atol=1e-12)
    law = stats.binom.logpmf(7, 20, other[1:-1]) - stats.binom.logpmf(7, 20, 0.35)
    assert_allclose(gain[1, 1:-1], law, atol=1e-10)


def test_mean_and_scatter_are_the_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).standard_normal((30, 3))
    assert gaussian_gain(X, 200, np.random.default_rng(1)).max() < 0

    def off(X: Floats) -> Gaussian:
        return estimate(X)._replace(mean=X.mean(0) + 0.1)

    monkeypatch.setattr(estimates, "estimate", off)
    assert gaussian_gain(X, 200, np.random.default_rng(1)).max() > 0


@pytest.mark.parametrize("alpha", [1.5, 3.0])
def test_the_search_finds_the_formula(alpha: float) -> None:
    n = np.array([4.0, 0.0, 2.0])
    expected = (n + alpha - 1) / (n + alpha - 1).sum()  # FCML 5.8
    assert_allclose(multinomial_by_search(n, alpha), expected, atol=1e-7)


def test_what_other_gaussians_lose_is_what_scipy_says() -> None:
    X = np.random.default_rng(5).normal(size=(30, 2)) @ np.array([[1.0, 0.5], [0.0, 2.0]])
    found = gaussian_gain(X, 8, np.random.default_rng(6))
    rng, step = np.random.default_rng(6), np.geomspace(1e-3, 1, 8)
    shifts, turns = rng.standard_normal((8, 2)), rng.standard_normal((8, 2, 2))
    mean, C = X.mean(0), np.cov(X.T, bias=True)
    root, best = np.linalg.cholesky(C), stats.multivariate_normal(mean, C).logpdf(X).sum()
    for i, size in enumerate(step):
        R = root @ (np.eye(2) + size * turns[i])
        other = stats.multivariate_normal(mean + size * root @ shifts[i], R @ R.T)
        assert_allclose(found[i], other.logpdf(X).sum() - best, rtol=1e-7, atol=1e-9)
