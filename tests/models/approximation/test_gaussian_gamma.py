"""Mean and precision: closed forms, grids, bounds by sampling, conditionals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import psi

from bythebook.models.approximation import gaussian_gamma as gg
from bythebook.models.approximation.gaussian_gamma import Data, Factors, Prior

X = np.array([[0.3, -1.2, 0.8, 2.0, -0.1]])
DATA = Data(5, X.mean(1), (X**2).mean(1))
CONJUGATE, APART = Prior(True, 1.0, 2.0, 3.0, 1.5), Prior(False, 1.0, 2.0, 3.0, 1.5)


@pytest.mark.parametrize("prior", [CONJUGATE, APART])
def test_the_bound_is_the_expectation_under_q_and_rests_where_it_is_largest(prior: Prior) -> None:
    q = gg.climb(DATA, prior, np.ones(1), steps=40)[-1]
    rng = np.random.default_rng(0)
    mu = rng.normal(q.mean, q.precision**-0.5, 200_000)
    tau = rng.gamma(q.a, 1 / q.b, 200_000)
    log_q = stats.norm.logpdf(mu, q.mean, q.precision**-0.5) + stats.gamma.logpdf(
        tau, q.a, scale=1 / q.b
    )
    terms = gg.log_joint(DATA, prior, 0, mu, tau) - log_q
    best = gg.bound(DATA, prior, q)[0]
    assert abs(terms.mean() - best) < 5 * terms.std() / 200_000**0.5
    for k in range(4):
        for scale in (0.98, 1.02):
            moved = Factors(*(v * (scale if i == k else 1) for i, v in enumerate(q)))
            assert gg.bound(DATA, prior, moved)[0] < best


def test_the_joint_is_data_times_prior() -> None:
    mu, tau = np.array(0.4), np.array(1.7)
    likelihood = stats.norm.logpdf(X, 0.4, 1.7**-0.5).sum()
    of_tau = stats.gamma.logpdf(1.7, 3.0, scale=1 / 1.5)
    for prior, variance in ((CONJUGATE, 1 / (2 * 1.7)), (APART, 2.0)):
        expected = likelihood + of_tau + stats.norm.logpdf(0.4, 1.0, variance**0.5)
        assert_allclose(gg.log_joint(DATA, prior, 0, mu, tau), expected)


def test_closed_form_and_grid() -> None:
    closed, grid = gg.exact(DATA, CONJUGATE), gg.on_grid(DATA, CONJUGATE, 0)
    assert_allclose(grid.log_evidence, closed.log_evidence[0], rtol=1e-7)
    assert_allclose(grid.mass.sum(0) @ grid.tau, closed.a / closed.b[0], rtol=1e-6)
    assert_allclose(grid.mass.sum(1) @ grid.mu, closed.mean[0], rtol=1e-6)


@pytest.mark.parametrize("a", [1.0, 3.0, 30.0])
def test_mutual_information_of_mean_and_precision_depends_on_the_shape_alone(a: float) -> None:
    """The entropy of Student's t less that of the mean's Gaussian, averaged over precisions."""
    for width, b in ((2.0, 1.5), (0.5, 4.0)):
        grid = gg.on_grid(DATA, Prior(True, 1.0, width, a, b), 0)
        shape = a + 2.5  # five points
        gaussian = (np.log(2 * np.pi * np.e * shape) - psi(shape)) / 2  # times sqrt(b / shape)
        assert_allclose(grid.information, stats.t(2 * shape).entropy() - gaussian, rtol=1e-5)


def test_without_a_prior_the_biased_variance_or_with_a_flat_mean_the_unbiased_one() -> None:
    for conjugate, ddof in ((True, 0), (False, 1)):
        flat = Prior(conjugate, 0.0, 0.0, 0.0, 0.0)
        assert_allclose(1 / gg.climb(DATA, flat, np.ones(1), steps=80)[-1].tau, X.var(ddof=ddof))


@pytest.mark.parametrize("prior", [CONJUGATE, APART])
def test_gibbs_samples_have_the_posterior_means(prior: Prior) -> None:
    samples = gg.gibbs(DATA, prior, 4000, np.random.default_rng(1))
    grid = gg.on_grid(DATA, prior, 0)
    assert_allclose(samples[:, 0].mean(), grid.mass.sum(1) @ grid.mu, atol=0.05)
    assert_allclose(samples[:, 1].mean(), grid.mass.sum(0) @ grid.tau, rtol=0.05)
