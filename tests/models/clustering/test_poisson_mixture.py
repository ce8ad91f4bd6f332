"""Poisson mixtures against scipy.stats, a naive loop and an optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import poisson

from bythebook.models.clustering.poisson_mixture import (
    PoissonMixture,
    e_step,
    fit,
    log_joint,
    m_step,
    sample,
    start_at_counts,
)


@pytest.fixture
def rng():
    return np.random.default_rng(66)


@pytest.fixture
def x(rng):
    return sample(np.array([0.4, 0.6]), np.array([2.0, 10.0]), 300, rng)[0]


def test_one_iteration_against_scipy(x):
    theta = PoissonMixture(np.array([[0.3, 0.7]]), np.array([[1.5, 8.0]]))
    joint = np.log([0.3, 0.7]) + poisson.logpmf(x[:, None], [1.5, 8.0])
    np.testing.assert_allclose(log_joint(x, theta)[0], joint, rtol=1e-12)
    q = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    statistics, objective = e_step(x, theta)
    after = m_step(theta, statistics)
    assert objective[0] == pytest.approx(logsumexp(joint, axis=1).sum(), rel=1e-12)
    np.testing.assert_allclose(after.pi[0], q.mean(axis=0), rtol=1e-12)
    for k in range(2):
        assert after.rate[0, k] == pytest.approx(np.average(x, weights=q[:, k]), rel=1e-12)


def test_em_rises_to_the_maximum_an_optimiser_finds(x, rng):
    em = fit(x, start_at_counts(x, 2, rng, 5), tol=1e-12, max_iter=5000)
    assert np.nanmin(np.diff(em.objective)) > -1e-9

    def cost(v):
        weight = 1 / (1 + np.exp(-v[0]))
        parts = poisson.logpmf(x[:, None], np.exp(v[1:])) + np.log([weight, 1 - weight])
        return -logsumexp(parts, axis=1).sum()

    best = minimize(cost, [0.0, 0.0, 2.0], method="Nelder-Mead", options={"xatol": 1e-9})
    assert em.final.max() == pytest.approx(-best.fun, abs=1e-5)
    np.testing.assert_allclose(np.sort(em.theta.rate[em.best]), np.exp(best.x[1:]), rtol=1e-3)


def test_counts_come_from_the_mixture(rng):
    x, z = sample(np.array([0.25, 0.75]), np.array([1.0, 20.0]), 20_000, rng)
    assert np.mean(z == 0) == pytest.approx(0.25, abs=0.02)
    assert x[z == 1].mean() == pytest.approx(20, abs=0.2)


def test_it_ends_by_default_after_so_many_steps_or_with_a_gain_so_small(x, rng):
    """1000 steps, or the first gain of no more than 1e-8."""
    start = start_at_counts(x, 2, rng, 1)
    assert fit(x, start, tol=-np.inf).iterations.tolist() == [1000]
    gains = np.diff(fit(x, start).objective[0])
    assert gains[-1] <= 1e-8 < gains[-2]


def test_rates_begin_half_a_count_above_the_data(rng):
    start = start_at_counts(np.array([0.0, 10.0, 20.0]), 2, rng, 50)
    np.testing.assert_array_equal(start.pi, np.full((50, 2), 0.5))
    assert set(start.rate.flat) == {0.5, 10.5, 20.5}
