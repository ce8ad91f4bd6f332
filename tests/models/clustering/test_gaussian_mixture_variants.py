"""Resets and incremental EM, against a loop that recomputes everything at every visit."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import xlogy
from scipy.stats import multivariate_normal

from bythebook.models.clustering.gaussian_mixture import (
    GaussianMixture,
    collapsed,
    fit,
    log_density,
)
from bythebook.models.clustering.gaussian_mixture_starts import (
    sample_covariance,
    start_at,
    start_at_points,
)
from bythebook.models.clustering.gaussian_mixture_variants import (
    fit_in_orders,
    fit_incremental,
    fit_with_floor,
    fit_with_resets,
    raised,
)
from bythebook.models.datasets import load
from bythebook.models.em import take

LIMITS: Any = {"tol": 1e-8, "max_iter": 500}


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.fixture
def X(rng):
    return np.concatenate([rng.normal(c, 1.0, size=(15, 2)) for c in (0.0, 2.5)])


@pytest.fixture(scope="module")
def faithful():
    X = load("old-faithful").matrix
    return (X - X.mean(0)) / X.std(0)


def joint(X, pi, mu, Sigma):
    parts = zip(pi, mu, Sigma, strict=True)
    return np.stack([np.log(p) + multivariate_normal(m, S).logpdf(X) for p, m, S in parts], axis=1)


def bound(X, gamma, theta):
    return (gamma * joint(X, *theta)).sum() - xlogy(gamma, gamma).sum()


def naive_pass(X, gamma, theta, order, bounds):
    """One visit to every point, all statistics from all responsibilities each time."""
    for m in order:
        log_p = joint(X, *theta)[m]
        gamma[m] = np.exp(log_p - np.logaddexp.reduce(log_p))
        bounds.append(bound(X, gamma, theta))
        N = gamma.sum(0)
        mu = gamma.T @ X / N[:, None]
        Sigma = np.stack(
            [(g[:, None] * (X - c)).T @ (X - c) / g.sum() for g, c in zip(gamma.T, mu, strict=True)]
        )
        theta = (N / len(X), mu, Sigma)
        bounds.append(bound(X, gamma, theta))
    return theta


def test_incremental_updates_equal_recomputation_at_every_visit(X, rng):
    start = start_at_points(X, 2, rng, 2)
    order = np.stack([rng.permutation(30), np.arange(30)])
    run = fit_incremental(X, start, order, tol=-np.inf, max_iter=3, snapshots=range(4))
    for r in range(2):
        theta = (start.pi[r], start.mu[r], start.Sigma[r])
        log_p = joint(X, *theta)
        gamma = np.exp(log_p - np.logaddexp.reduce(log_p, axis=1, keepdims=True))
        bounds = [bound(X, gamma, theta)]
        np.testing.assert_allclose(run.objective[r, 0], bounds[0], rtol=1e-12)
        for number in (1, 2, 3):
            theta = naive_pass(X, gamma, theta, order[r], bounds)
            state = run.snapshots[number]
            np.testing.assert_allclose(state.pi[r], theta[0], rtol=1e-9)
            np.testing.assert_allclose(state.mu[r], theta[1], rtol=1e-9, atol=1e-10)
            np.testing.assert_allclose(state.Sigma[r], theta[2], rtol=1e-8, atol=1e-10)
            np.testing.assert_allclose(state.gamma[r], gamma, rtol=1e-7, atol=1e-12)
            np.testing.assert_allclose(run.objective[r, number], bounds[-1], rtol=1e-11)
        assert np.all(np.diff(bounds) >= -1e-10)  # every half step of every visit


def test_incremental_em_needs_fewer_passes_on_old_faithful(faithful):
    """PRML 9.4: it can converge faster. Same maximum, and both meet within 1e-3 of it."""
    start = start_at([[[-1.5, 1.0], [1.5, -1.0]]], np.eye(2))
    batch = fit(faithful, start, tol=1e-9)
    order = np.arange(len(faithful))[None]
    passes = fit_incremental(faithful, start, order, tol=1e-9, max_iter=100, snapshots=range(12))
    np.testing.assert_allclose(passes.final, batch.final, atol=1e-6)
    assert np.all(np.diff(passes.objective[0]) >= -1e-9)
    likelihood = [log_density(faithful, s.theta).sum() for s in passes.snapshots.values()]
    needed = int(np.flatnonzero(np.array(likelihood) > batch.final - 1e-3)[0])
    assert needed < np.flatnonzero(batch.objective[0] > batch.final - 1e-3)[0]


def test_incremental_restarts_do_not_touch_each_other(X, rng):
    start = start_at_points(X, 2, rng, 3)
    order = np.stack([rng.permutation(30) for _ in range(3)])
    together = fit_incremental(X, start, order, tol=1e-3, max_iter=100)
    for r in range(3):
        alone = fit_incremental(X, take(start, [r]), order[[r]], tol=1e-3, max_iter=100)
        assert alone.iterations[0] == together.iterations[r]
        np.testing.assert_allclose(alone.theta.mu[0], together.theta.mu[r], rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(alone.theta.order[0], order[r])


def test_without_a_collapse_resets_change_nothing(faithful, rng):
    start = start_at_points(faithful, 2, rng, 5)
    plain = fit(faithful, start)
    with_resets = fit_with_resets(faithful, start, rng, min_eigenvalue=1e-3, **LIMITS)
    assert not with_resets.resets.any()
    np.testing.assert_array_equal(with_resets.fit.objective, plain.objective)
    np.testing.assert_array_equal(with_resets.fit.theta.mu, plain.theta.mu)


@pytest.fixture
def collapsing(faithful):
    """Two restarts: one sensible, one with a narrow component on the most isolated point."""
    distances = cdist(faithful, faithful)
    np.fill_diagonal(distances, np.inf)
    lonely = faithful[distances.min(1).argmax()]
    Sigma = np.tile(0.5 * np.eye(2), (2, 2, 1, 1))
    Sigma[1, 1] *= 1e-3
    return start_at([[[-1.0, -1.0], [1.0, 1.0]], [[0.0, 0.0], lonely]], Sigma)


def test_a_collapsing_component_is_reset_and_em_goes_on(faithful, collapsing, rng):
    X, start = faithful, collapsing
    plain = fit(X, start, min_eigenvalue=1e-3)
    assert collapsed(plain.theta, 1e-3).tolist() == [[False, False], [False, True]]
    run, resets = fit_with_resets(X, start, rng, min_eigenvalue=1e-3, **LIMITS)
    assert run.converged.all()
    assert not collapsed(run.theta, 1e-3).any()
    assert resets[0] == 0
    assert resets[1] >= 1
    # One history over both legs: up to the collapse, then on from the reset mixture.
    legs = plain.iterations[1]
    np.testing.assert_array_equal(run.objective[1, :legs], plain.objective[1, :legs])
    assert np.isfinite(run.objective[1, : run.iterations[1] + 1]).all()
    assert (np.diff(run.objective[1, : run.iterations[1] + 1]) < 0).sum() <= resets[1]
    np.testing.assert_allclose(run.final, log_density(X, run.theta).sum(1), rtol=1e-12)
    np.testing.assert_allclose(run.final[0], plain.final[0], rtol=1e-12)


def test_a_reset_moves_only_the_mean_and_covariance_of_the_collapsed(faithful, collapsing):
    X, start = faithful, collapsing
    alone = GaussianMixture(*(field[1:] for field in start))
    before = fit(X, alone, min_eigenvalue=1e-3).theta
    seed = 3
    run, _ = fit_with_resets(
        X, alone, np.random.default_rng(seed), min_eigenvalue=1e-3, max_resets=1, **LIMITS
    )
    after = GaussianMixture(before.pi, before.mu.copy(), before.Sigma.copy())
    after.mu[0, 1] = X[np.random.default_rng(seed).integers(len(X), size=1)[0]]
    after.Sigma[0, 1] = sample_covariance(X)
    leg = fit(X, alone, min_eigenvalue=1e-3).iterations[0]
    np.testing.assert_allclose(run.objective[0, leg], log_density(X, after).sum(), rtol=1e-12)


def test_resets_are_limited(rng):
    X = np.array([[0.0], [1.0], [2.0]])  # K = N: every start collapses
    start = start_at(X[None], [[0.01]])
    run, resets = fit_with_resets(X, start, rng, min_eigenvalue=0.1, max_resets=4, **LIMITS)
    assert resets.tolist() == [4]
    assert not run.converged.any()
    assert np.isnan(run.final).all()
    assert fit_with_resets(X, start, rng, min_eigenvalue=0.1, **LIMITS).resets.tolist() == [20]


def test_a_floor_lifts_eigenvalues_and_the_likelihood_never_falls():
    rng = np.random.default_rng(99)
    A = rng.standard_normal((5, 3, 3))
    Sigma = A @ A.swapaxes(1, 2)
    lifted = raised(Sigma, 0.5)
    for old, new in zip(Sigma, lifted, strict=True):
        before, after = np.linalg.eigvalsh(old), np.linalg.eigvalsh(new)
        np.testing.assert_allclose(after, np.maximum(before, 0.5), rtol=1e-9)
        np.testing.assert_allclose(old @ new, new @ old, atol=1e-9)  # the same eigenvectors
    X = rng.standard_normal((40, 2))
    start = start_at_points(X, 8, rng, 10)
    em = fit_with_floor(X, start, 0.01, **LIMITS)
    assert np.isfinite(em.final).all()  # nothing collapses
    assert np.nanmin(np.diff(em.objective)) > -1e-9
    assert np.linalg.eigvalsh(em.theta.Sigma).min() >= 0.01 * (1 - 1e-9)


def test_the_floored_covariance_is_the_most_likely_one():
    rng = np.random.default_rng(98)
    S = np.diag([0.001, 2.0])

    def log_likelihood(Sigma):
        return -np.linalg.slogdet(Sigma)[1] - np.trace(np.linalg.solve(Sigma, S))

    best = log_likelihood(raised(S, 0.1))
    for _ in range(300):
        A = rng.standard_normal((2, 2)) * rng.uniform(0.3, 1.5)
        candidate = raised(A @ A.T, 0.1)
        assert log_likelihood(candidate) <= best + 1e-12


def test_each_order_is_a_run_of_its_own(X, rng):
    start = start_at_points(X, 2, rng)
    orders = np.stack([np.arange(30), rng.permutation(30)])
    L, bounds = fit_in_orders(X, start, orders, 3)
    assert L.shape == bounds.shape == (2, 4)
    for order, likelihoods, climb in zip(orders, L, bounds, strict=True):
        alone = fit_incremental(X, start, order[None], tol=0, max_iter=3)
        np.testing.assert_allclose(climb, alone.objective[0], rtol=1e-12)
        assert likelihoods[-1] == pytest.approx(log_density(X, alone.theta.theta).sum())


def test_variants_end_after_so_many_steps_or_with_a_gain_so_small(X, rng):
    start, order = start_at_points(X, 2, rng), np.arange(len(X))[None]
    never = {"tol": -np.inf, "max_iter": 7}
    for run in (fit_with_floor(X, start, 0.01, **never), fit_incremental(X, start, order, **never)):
        assert run.iterations.tolist() == [7]
    small = {"tol": 1e-8, "max_iter": 2000}
    for run in (fit_with_floor(X, start, 0.01, **small), fit_incremental(X, start, order, **small)):
        gains = np.diff(run.objective[0])
        assert gains[-1] <= 1e-8 < gains[-2]
