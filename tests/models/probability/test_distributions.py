"""Popular distributions against scipy.stats, and what follows from the axioms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.models.probability.distributions import (
    FAMILIES,
    bernoulli_information,
    bernoulli_scores,
    log_beta,
    log_binomial,
    log_poisson,
    log_uniform,
    tabulate,
)

SCIPY = {
    "binomial": ([20, 0.3], stats.binom(20, 0.3)),
    "poisson": ([5.0], stats.poisson(5)),
    "uniform": ([3.0, 8.0], stats.uniform(3, 5)),
    "beta": ([5.0, 1.5], stats.beta(5, 1.5)),
    "gaussian": ([-2.0, 0.3], stats.norm(-2, np.sqrt(0.3))),
    "truncated": ([0.5, 2.0, -1], stats.truncnorm(-np.inf, -0.25, loc=0.5, scale=2)),
}


@pytest.mark.parametrize("family", SCIPY)
def test_moments_and_values_against_scipy(family: str) -> None:
    parameters, law = SCIPY[family]
    found = tabulate(family, parameters)
    log_p = law.logpmf if hasattr(law.dist, "pmf") else law.logpdf
    assert_allclose(found.log_p, log_p(found.x), rtol=1e-9, atol=1e-12)
    assert_allclose(found.weight.sum(), 1, rtol=1e-9)
    mean = found.weight @ found.x
    assert_allclose(mean, law.mean(), rtol=1e-8)
    assert_allclose(found.weight @ (found.x - mean) ** 2, law.var(), rtol=1e-8)


@pytest.mark.parametrize("mean", [1.5, -1.5])
def test_a_gaussian_cut_on_either_side_or_whole(mean: float) -> None:
    cut = -mean / 2  # the origin, in standard deviations
    for side, ends in ((1, (cut, np.inf)), (-1, (-np.inf, cut)), (0, (-np.inf, np.inf))):
        law = stats.truncnorm(*ends, loc=mean, scale=2)
        found = tabulate("truncated", [mean, 2.0, side])
        assert_allclose(found.weight.sum(), 1, rtol=1e-12)
        assert_allclose(found.weight @ found.x, law.mean(), rtol=1e-10)
        assert_allclose(found.weight @ found.x**2, law.moment(2), rtol=1e-10)


def test_large_counts_are_not_cut_off() -> None:
    law = tabulate("poisson", [2500.0])
    assert_allclose(law.weight.sum(), 1, rtol=1e-10)
    assert_allclose(law.weight @ law.x, 2500, rtol=1e-10)


def test_every_family_is_tried() -> None:
    assert {*SCIPY, "categorical"} == set(FAMILIES)


def test_a_loaded_die() -> None:
    law = tabulate("categorical", [0.5, 0.5, 0.0])
    assert law.x.tolist() == [1, 2, 3]
    assert_allclose(law.weight, [0.5, 0.5, 0], rtol=1e-12)


def test_the_ends_of_the_range() -> None:
    assert_allclose(np.exp(log_binomial(np.array([0.0, 3.0]), 3, 1.0)), [0, 1])
    assert_allclose(np.exp(log_poisson(np.array([0.0]), 2.0)), np.exp(-2))
    assert_allclose(np.exp(log_beta(np.array([0.0, 1.0]), 1.0, 1.0)), [1, 1])
    assert np.exp(log_uniform(np.array([2.9, 3.0, 8.1]), 3, 8)).tolist() == [0, 0.2, 0]


@pytest.mark.parametrize("parameters", [[500.0, 700.0], [0.5, 0.5], [0.5, 30.0]])
def test_narrow_and_unbounded_densities_integrate_to_one(parameters: list[float]) -> None:
    assert_allclose(tabulate("beta", parameters).weight.sum(), 1, rtol=1e-7)


def test_the_information_of_a_coin_is_its_mean_squared_score() -> None:
    q = np.array([0.1, 0.5, 0.8])
    h = 1e-6
    for x in (0.0, 1.0):
        rise = stats.bernoulli.logpmf(x, q + h) - stats.bernoulli.logpmf(x, q - h)
        assert_allclose(bernoulli_scores(np.array(x), q), rise / (2 * h), rtol=1e-6)
    squares = q * bernoulli_scores(np.array(1.0), q) ** 2
    squares += (1 - q) * bernoulli_scores(np.array(0.0), q) ** 2
    assert_allclose(bernoulli_information(q), squares, rtol=1e-12)


def test_a_gaussian_ends_nine_standard_deviations_from_its_mean() -> None:
    """The mass beyond is below 1e-15, and no node is placed at smaller densities."""
    law = tabulate("gaussian", [-2.0, 0.25])
    assert_allclose(law.x[[0, -1]], [-6.5, 2.5], rtol=1e-4)
    beyond = stats.norm(-2, 0.5).cdf(law.x[0]) + stats.norm(-2, 0.5).sf(law.x[-1])
    assert 1e-20 < beyond < 1e-15
