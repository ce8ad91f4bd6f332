"""The coin against enumeration, exact fractions, scipy.stats and brute-force search."""

from fractions import Fraction
from itertools import product
from math import comb, factorial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.models.probability import coin
from bythebook.models.probability.coin import Beta

BELIEFS = Beta(np.array([0.3, 1.0, 5.0, 64.0, 726.0]), np.array([0.6, 1.0, 1.0, 56.0, 276.0]))


def belief(alpha: float, beta: float) -> Beta:
    return Beta(np.array(alpha), np.array(beta))


def exact_beta(a: int, b: int) -> Fraction:
    """B(a, b) for whole a and b."""
    return Fraction(factorial(a - 1) * factorial(b - 1), factorial(a + b - 1))


def test_density_mean_variance_and_mass_are_those_of_scipy() -> None:
    reference = stats.beta(*BELIEFS)
    for r in (0.0, 0.01, 0.5, 0.72, 1.0):
        assert_allclose(np.exp(coin.log_density(BELIEFS, r)), reference.pdf(r), rtol=1e-9)
    assert_allclose(coin.mean(BELIEFS), reference.mean(), rtol=1e-12)
    assert_allclose(coin.variance(BELIEFS), reference.var(), rtol=1e-12)
    expected = reference.cdf(0.7) - reference.cdf(0.2)
    assert_allclose(coin.mass(BELIEFS, 0.2, 0.7), expected, rtol=1e-9)


def test_posterior_is_prior_times_likelihood() -> None:
    r = np.linspace(0.05, 0.95, 19)
    prior = belief(2.5, 0.7)
    product_of_both = coin.log_density(prior, r) + stats.binom.logpmf(6, 10, r)
    after = coin.log_density(coin.update(prior, 6, 10), r)
    assert_allclose(np.ptp(product_of_both - after), 0, atol=1e-12)  # a constant, the evidence
    evidence = coin.log_beta_binomial(6, 10, prior)
    assert_allclose((product_of_both - after)[0], evidence, rtol=1e-10)


def test_binomial_by_counting_all_sequences() -> None:
    r, n = 0.3, 7
    counted = np.zeros(n + 1)
    for tosses in product((0, 1), repeat=n):
        counted[sum(tosses)] += r ** sum(tosses) * (1 - r) ** (n - sum(tosses))
    found = np.exp(coin.log_binomial(np.arange(n + 1), n, r))
    assert_allclose(found, counted, rtol=1e-12)
    for k in range(n):
        win = float(coin.win_probability(r, n, k))
        assert_allclose(win, counted[: k + 1].sum(), rtol=1e-12)


def test_a_coin_with_one_side_only() -> None:
    assert_allclose(np.exp(coin.log_binomial([0, 3], 3, 1.0)), [0, 1])
    assert_allclose(coin.win_probability([0.0, 1.0], 10, 6), [1, 0])


@pytest.mark.parametrize(("delta", "gamma"), [(7, 5), (15, 7), (64, 56), (19, 7)])
def test_expected_win_probability_in_exact_fractions(delta: int, gamma: int) -> None:
    lost = sum(
        comb(10, y) * exact_beta(delta + y, gamma + 10 - y) / exact_beta(delta, gamma)
        for y in range(7, 11)
    )
    found = coin.expected_win_probability(belief(delta, gamma), 10, 6)
    assert_allclose(found, float(1 - lost), rtol=1e-12)


def test_beta_binomial_is_that_of_scipy() -> None:
    y = np.arange(13)
    spread = Beta(BELIEFS.alpha[:, None], BELIEFS.beta[:, None])
    found = coin.log_beta_binomial(y, 12, spread)
    assert_allclose(found, stats.betabinom.logpmf(y, 12, *spread), rtol=1e-8, atol=1e-10)
    assert_allclose(np.exp(found).sum(-1), 1, rtol=1e-10)


def test_the_uniform_prior_expects_every_count_alike() -> None:
    found = np.exp(coin.log_beta_binomial(np.arange(101), 100, belief(1, 1)))
    assert_allclose(found, 1 / 101, rtol=1e-11)


def test_expectations_by_quadrature() -> None:
    a, b = BELIEFS
    moment = np.ones(5)
    for power in range(1, 6):
        moment *= (a + power - 1) / (a + b + power - 1)
        found = coin.expectation(lambda r, k=power: r**k, BELIEFS)  # type: ignore[misc]
        assert_allclose(found, moment, rtol=1e-11)
    for heads, tails in ((4000.0, 50.0), (20.0, 9000.0)):  # far from one half, small variance
        sure = Beta(np.array([heads]), np.array([tails]))
        assert_allclose(coin.expectation(lambda r: r, sure), heads / (heads + tails), rtol=1e-11)
    found = coin.expectation(lambda r: coin.win_probability(r, 10, 6), BELIEFS)
    assert_allclose(found, stats.betabinom.cdf(6, 10, *BELIEFS), rtol=1e-9)


@pytest.mark.parametrize("heads", [3, 10, 14, 19])
def test_the_best_prior_beats_a_fine_grid(heads: int) -> None:
    best = coin.best_prior(heads, 20, 50, 30)
    grid = Beta(np.linspace(0.05, 50, 1000)[:, None], np.linspace(0.05, 30, 600))
    reference = np.asarray(stats.betabinom.logpmf(heads, 20, *grid))
    found = stats.betabinom.logpmf(heads, 20, *best)
    assert found >= reference.max() - 1e-9
    i, j = np.unravel_index(np.argmax(reference), reference.shape)
    assert_allclose(best.alpha, grid.alpha[i, 0], rtol=0, atol=0.1)
    assert_allclose(best.beta, grid.beta[j], rtol=0, atol=0.1)


@pytest.mark.parametrize("heads", [0, 20])
def test_the_best_prior_for_one_side_only_forgets_the_other(heads: int) -> None:
    best = coin.best_prior(heads, 20, 50, 30)
    assert np.exp(coin.log_beta_binomial(heads, 20, best)) > 1 - 1e-6
