"""Bernoulli mixtures against enumeration of all binary vectors, naive loops and closed forms."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import bernoulli, beta, dirichlet

from bythebook.models.clustering import mixture
from bythebook.models.clustering.bernoulli_mixture import (
    BernoulliMixture,
    Prior,
    Statistics,
    constant_variables,
    e_step,
    fit,
    log_density,
    log_joint,
    log_prior,
    m_step,
    responsibilities,
    sample_clusters,
    start_at_random,
)
from bythebook.models.clustering.mixture import expected_complete
from bythebook.models.em import take


@pytest.fixture
def rng():
    return np.random.default_rng(33)


@pytest.fixture
def X(rng):
    """100 objects of 10 binary variables from three components, as in FCML Figure 6.13."""
    p = rng.random((3, 10))
    return (rng.random((100, 10)) < p[rng.integers(3, size=100)]).astype(float)


def naive_log_joint(X, theta, r):
    return np.array(
        [
            [
                np.log(p) + bernoulli.logpmf(x, m).sum()
                for p, m in zip(theta.pi[r], theta.mu[r], strict=True)
            ]
            for x in X
        ]
    )


def test_the_density_sums_to_one_over_all_vectors(rng):
    theta = BernoulliMixture(rng.dirichlet(np.ones(3), size=2), rng.random((2, 3, 6)))
    everything = np.array(list(itertools.product((0.0, 1.0), repeat=6)))
    density = np.exp(log_density(everything, theta))
    np.testing.assert_allclose(density.sum(1), 1.0, rtol=1e-12)
    mean = density @ everything
    np.testing.assert_allclose(mean, (theta.pi[..., None] * theta.mu).sum(1), rtol=1e-12)  # (9.49)


def test_e_step_and_m_step_against_loops(X, rng):
    theta = start_at_random(10, 3, rng, 2)
    q, objective = e_step(X, theta)
    after = m_step(theta, q)
    for r in range(2):
        expected = naive_log_joint(X, theta, r)
        evidence = logsumexp(expected, axis=1)
        gamma = np.exp(expected - evidence[:, None])
        np.testing.assert_allclose(log_joint(X, theta)[r], expected, rtol=1e-11)
        np.testing.assert_allclose(responsibilities(X, theta)[r], gamma, rtol=1e-10)
        np.testing.assert_allclose(objective[r], evidence.sum(), rtol=1e-12)
        np.testing.assert_allclose(after.pi[r], gamma.mean(0), rtol=1e-11)
        for k in range(3):
            mean = np.average(X, axis=0, weights=gamma[:, k])
            np.testing.assert_allclose(after.mu[r, k], mean, rtol=1e-11)


@pytest.mark.parametrize("prior", [None, Prior(2.0, 3.0, 1.5)])
def test_the_objective_rises_at_every_step(X, rng, prior):
    run = fit(X, start_at_random(10, 4, rng, 20, low=0, high=1), prior=prior)
    for history, iterations in zip(run.objective, run.iterations, strict=True):
        assert iterations > 5
        assert np.all(np.diff(history[: iterations + 1]) >= -1e-9)
    if prior is None:
        assert run.final.max() < 0  # a probability: no singularities


@pytest.mark.parametrize("prior", [None, Prior(2.0, 3.0, 1.5)])
def test_the_m_step_beats_its_neighbours(X, rng, prior):
    theta = start_at_random(10, 2, rng)
    gamma = responsibilities(X, theta)
    best = m_step(theta, e_step(X, theta)[0], prior)

    def objective(candidate):
        value = expected_complete(log_joint(X, candidate), gamma)[0]
        return value if prior is None else value + log_prior(candidate, prior)[0]

    for _ in range(50):
        pi = best.pi * np.exp(0.05 * rng.normal(size=2))
        mu = np.clip(best.mu + 0.02 * rng.normal(size=best.mu.shape), 0.001, 0.999)
        assert objective(BernoulliMixture(pi / pi.sum(), mu)) < objective(best)


def test_where_em_ends_the_gradient_vanishes(X, rng):
    prior = Prior(
        2.0, 2.0, 2.0
    )  # keeps the means off the boundary, where a gradient need not vanish
    run = fit(X, start_at_random(10, 2, rng), prior=prior, tol=0, max_iter=5000)

    def objective(v):
        pi = np.exp(v[:2] - logsumexp(v[:2]))
        mu = 1 / (1 + np.exp(-v[2:].reshape(2, 10)))
        theta = BernoulliMixture(pi[None], mu[None])
        value = logsumexp(naive_log_joint(X, theta, 0), axis=1).sum()
        return value + beta.logpdf(mu, 2, 2).sum() + dirichlet.logpdf(pi, [2, 2])

    mu = run.theta.mu[0].ravel()
    end = np.concatenate([np.log(run.theta.pi[0]), np.log(mu / (1 - mu))])
    np.testing.assert_allclose(objective(end), run.final[0], rtol=1e-10)
    for i in (0, 1, 2, 7, 13, 21):
        step = np.zeros(22)
        step[i] = 1e-5
        assert abs(objective(end + step) - objective(end - step)) / 2e-5 < 1e-4


def test_log_prior_against_scipy(rng):
    theta = start_at_random(4, 3, rng, 2)
    prior = Prior(1.5, 4.0, 2.0)
    for r in range(2):
        expected = beta.logpdf(theta.mu[r], 1.5, 4.0).sum()
        expected += dirichlet.logpdf(theta.pi[r], np.full(3, 2.0))
        np.testing.assert_allclose(log_prior(theta, prior)[r], expected, rtol=1e-12)


def test_certainty_is_exact():
    """mu = 0 and 1: impossible data have probability 0, certain data have 1; no NaN."""
    theta = BernoulliMixture(np.array([[0.5, 0.5]]), np.array([[[0.0, 1.0], [0.5, 1.0]]]))
    X = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    expected = np.log(0.5) + np.array(
        [[0.0, np.log(0.5)], [-np.inf, np.log(0.5)], [-np.inf, -np.inf]]
    )
    np.testing.assert_array_equal(log_joint(X, theta)[0], expected)
    assert log_density(X, theta)[0, 2] == -np.inf


def test_a_variable_that_never_varies_does_no_harm(X, rng):
    constant = np.concatenate([X, np.zeros((100, 2)), np.ones((100, 1))], axis=1)
    start = start_at_random(13, 3, rng, 4)
    run = fit(constant, start, tol=1e-10, max_iter=300)
    assert np.isfinite(run.final).all()
    assert not run.theta.mu[..., 10:12].any()
    assert (run.theta.mu[..., 12] == 1).all()
    # From the first M step on the constant columns say nothing about the component.
    after = fit(constant, start, max_iter=1).theta
    rest = fit(X, BernoulliMixture(after.pi, after.mu[..., :10]), tol=1e-10, max_iter=300)
    np.testing.assert_allclose(run.final, rest.final, rtol=1e-9)


def test_an_impossible_start_is_reported_and_not_called_converged(X):
    start = BernoulliMixture(np.full((1, 2), 0.5), np.zeros((1, 2, 10)))
    run = fit(X, start)
    assert run.objective[0, 0] == -np.inf
    assert not run.converged.any()


def test_a_component_without_points_keeps_its_mean():
    theta = BernoulliMixture(np.array([[0.5, 0.5]]), np.array([[[0.3], [0.9]]]))
    counts = np.array([[[1.0], [0.0]]]), np.array([[[3.0], [0.0]]])
    after = m_step(theta, Statistics(np.array([[4.0, 0.0]]), *counts))
    np.testing.assert_array_equal(after.mu[0], [[0.25], [0.9]])
    np.testing.assert_array_equal(after.pi[0], [1.0, 0.0])


def test_order_of_components_batches_and_blocks_do_not_matter(X, rng, monkeypatch):
    start = start_at_random(10, 3, rng, 3)
    run = fit(X, start, max_iter=30)
    permuted = fit(X, BernoulliMixture(*(field[:, [2, 0, 1]] for field in start)), max_iter=30)
    np.testing.assert_allclose(run.objective, permuted.objective, rtol=1e-10)
    alone = fit(X.astype(bool), take(start, [1]), max_iter=30)
    np.testing.assert_allclose(run.final[1], alone.final[0], rtol=1e-10)
    monkeypatch.setattr(mixture, "_BLOCK", 1)
    cut = fit(X, start, max_iter=30)
    np.testing.assert_allclose(run.objective, cut.objective, rtol=1e-10)


def test_random_starts(rng):
    start = start_at_random(50, 3, rng, 4)
    assert start.mu.min() >= 0.25
    assert start.mu.max() <= 0.75
    np.testing.assert_allclose(start.pi, 1 / 3, rtol=1e-15)


def test_a_prior_without_a_mode_is_an_error(X, rng):
    with pytest.raises(ValueError, match="below 1"):
        fit(X, start_at_random(10, 2, rng), prior=Prior(0.5, 1.0))


def update(ones, n, prior):
    """The means that an M step makes of sums of ones among n objects of a single component."""
    theta = BernoulliMixture(np.ones((1, 1)), np.full((1, 1, len(ones)), 0.5))
    statistics = Statistics(np.array([[float(n)]]), ones[None, None], n - ones[None, None])
    return m_step(theta, statistics, prior).mu[0, 0]


def test_sampled_clusters_have_means_in_the_range(rng):
    X, z = sample_clusters(30_000, 4, 3, rng, low=0.2, high=0.8)
    shares = np.array([X[z == k].mean(axis=0) for k in range(3)])
    assert shares.min() > 0.18
    assert shares.max() < 0.82
    assert np.ptp(shares) > 0.1
    assert np.bincount(z) / 30_000 == pytest.approx([1 / 3] * 3, abs=0.02)


def test_sampled_clusters_have_means_anywhere_by_default(rng):
    """Uniform on all of [0, 1]: the mean is a half, the variance a twelfth."""
    X, z = sample_clusters(4000, 200, 2, rng)
    shares = np.array([X[z == k].mean(axis=0) for k in range(2)])
    assert shares.mean() == pytest.approx(1 / 2, abs=0.06)  # four standard errors
    assert shares.var() == pytest.approx(1 / 12, abs=0.015)
    assert shares.min() < 0.05
    assert shares.max() > 0.95


def test_constant_variables_are_counted_in_clusters_of_some_size():
    X = np.array([[1, 0, 1]] * 5 + [[1, 1, 0]] * 5 + [[0, 0, 0]] * 2, dtype=float)
    labels = np.repeat([0, 1, 2], [5, 5, 2])
    X[0, 2] = 0
    assert constant_variables(X, labels, 3).tolist() == [2, 3, 0]
    X[5, :2] = 0
    assert constant_variables(X, labels, 3).tolist() == [2, 1, 0]
    assert not constant_variables(X, np.arange(12) % 12, 12).any()
    assert constant_variables(X, np.arange(12), 12, least=1).tolist() == [3] * 12


@pytest.mark.parametrize(("n", "a", "b"), [(100, 2.0, 2.0), (7, 3.0, 1.5)])
def test_updates_maximise_the_bound_with_its_prior(n, a, b):
    ones = np.array([0.0, 0.3 * n, n])
    on_a_grid = np.linspace(0, 1, 1_000_001)[1:-1]
    bounds = [
        (count + a - 1) * np.log(on_a_grid) + (n - count + b - 1) * np.log1p(-on_a_grid)
        for count in ones
    ]
    expected = [on_a_grid[bound.argmax()] for bound in bounds]
    np.testing.assert_allclose(update(ones, n, Prior(a, b)), expected, atol=2e-6)


def test_it_ends_by_default_after_so_many_steps_or_with_a_gain_so_small(X, rng):
    """500 steps, or the first gain of no more than 1e-8."""
    start = start_at_random(10, 2, rng)
    assert fit(X, start, tol=-np.inf).iterations.tolist() == [500]
    gains = np.diff(fit(X, start).objective[0])
    assert gains[-1] <= 1e-8 < gains[-2]
