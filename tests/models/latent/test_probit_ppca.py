"""Probit PCA: the bound against quadrature, the updates against loops, recovery of a map."""

import numpy as np
import pytest
from scipy.stats import norm, truncnorm

from bythebook.models.latent.probit_ppca import auxiliary_mean, bound, fit, most_probable


@pytest.fixture
def rng():
    return np.random.default_rng(77)


def test_the_auxiliary_means_are_those_of_truncated_gaussians(rng):
    mean = rng.standard_normal((4, 5))
    Y = rng.choice([-1.0, 0.0, 1.0], size=(4, 5))
    found = auxiliary_mean(Y, mean)
    for y, m, value in zip(Y.flat, mean.flat, found.flat, strict=True):
        if y == 0:
            assert value == 0
        else:
            ends = (-m, np.inf) if y > 0 else (-np.inf, -m)
            assert value == pytest.approx(truncnorm(*ends, loc=m).mean(), rel=1e-8)


def test_the_bound_rises_and_stays_below_the_evidence():
    """One vote: w^T x is symmetric about zero, so the evidence is one half."""
    run = fit(np.array([[1.0]]), 1, np.random.default_rng(0), scale=1.0, tol=-1, max_iter=30)
    assert (np.diff(run.bound) > -1e-12).all()
    assert np.log(0.5) - 0.5 < run.bound[-1] < np.log(0.5)


def test_the_bound_is_an_expectation(rng):
    """E_Q[log p(Y, q, x, w) - log Q] with q at its best, by sampling."""
    Y = rng.choice([-1.0, 0.0, 1.0], size=(4, 5))
    run = fit(Y, 2, rng, scale=1.0, max_iter=3, tol=-1)
    q = run.q
    S = 20_000
    x = np.stack([rng.multivariate_normal(*p, S) for p in zip(q.mu_x, q.Sigma_x, strict=True)], 1)
    w = np.stack([rng.multivariate_normal(*p, S) for p in zip(q.mu_w, q.Sigma_w, strict=True)], 1)
    m = q.mu_x @ q.mu_w.T
    value = np.zeros(S)
    for n in range(4):
        for k in range(5):
            if Y[n, k]:
                ends = (-m[n, k], np.inf) if Y[n, k] > 0 else (-np.inf, -m[n, k])
                law = truncnorm(*ends, loc=m[n, k])
                a = law.rvs(S, random_state=rng)
                value += norm.logpdf(a, (x[:, n] * w[:, k]).sum(axis=1)) - law.logpdf(a)
    for v, mu, Sigma in ((x, q.mu_x, q.Sigma_x), (w, q.mu_w, q.Sigma_w)):
        for i in range(len(mu)):
            white = np.linalg.solve(np.linalg.cholesky(Sigma[i]), (v[:, i] - mu[i]).T)
            log_q = -(white**2).sum(axis=0) / 2 - np.linalg.slogdet(Sigma[i])[1] / 2
            value += -(v[:, i] ** 2).sum(axis=1) / 2 - log_q
    error = value.std() / np.sqrt(S)
    assert float(bound(Y, q)) == pytest.approx(value.mean(), abs=4 * error)


def test_a_map_is_found_again(rng):
    x = np.repeat([[1.0, 0.0], [-1.0, 0.5], [0.0, -1.0]], 15, axis=0)
    w = 5 * rng.standard_normal((80, 2))
    Y = np.where(rng.random((45, 80)) < norm.cdf(x @ w.T), 1.0, -1.0)
    Y[rng.random(Y.shape) < 0.4] = 0
    Y[0, 5:] = 0  # an MP with few votes
    run = fit(Y, 2, rng, max_iter=60)
    assert (np.diff(run.bound) > -1e-8).all()
    seen = Y != 0
    assert (most_probable(run.q) == Y)[seen].mean() > 0.9
    volume = np.linalg.slogdet(run.q.Sigma_x)[1]
    assert volume.argmax() == 0


def test_one_iteration_as_loops_from_the_same_draws(rng):
    """Positions from the starting boundaries, then boundaries from the new positions."""
    Y = rng.choice([-1.0, 0.0, 1.0], size=(5, 4))
    q = fit(Y, 2, np.random.default_rng(1), scale=0.3, max_iter=1).q
    again = np.random.default_rng(1)
    x, w = 0.3 * again.standard_normal((5, 2)), 0.3 * again.standard_normal((4, 2))

    def renewed(votes, own, other, moments):
        means, covariances = [], []
        for row, here in zip(votes, own, strict=True):
            A, b = np.eye(2), np.zeros(2)
            for y, there, second in zip(row, other, moments, strict=True):
                if y:
                    m = here @ there
                    b += there * (m + y * norm.pdf(m) / norm.cdf(y * m))
                    A += second
            covariances.append(np.linalg.inv(A))
            means.append(covariances[-1] @ b)
        return np.array(means), np.array(covariances)

    mu_x, Sigma_x = renewed(Y, x, w, [np.eye(2) + np.outer(v, v) for v in w])
    np.testing.assert_allclose(q.mu_x, mu_x, rtol=1e-9)
    np.testing.assert_allclose(q.Sigma_x, Sigma_x, rtol=1e-9)
    seconds = [S + np.outer(v, v) for v, S in zip(mu_x, Sigma_x, strict=True)]
    mu_w, Sigma_w = renewed(Y.T, w, mu_x, seconds)
    np.testing.assert_allclose(q.mu_w, mu_w, rtol=1e-9)
    np.testing.assert_allclose(q.Sigma_w, Sigma_w, rtol=1e-9)


def test_it_has_converged_after_the_first_small_gain(rng):
    Y = rng.choice([-1.0, 1.0], size=(6, 5))
    done = fit(Y, 2, np.random.default_rng(2), tol=1e9, max_iter=9)  # any gain is small
    assert done.converged
    assert len(done.bound) == 2
    assert not fit(Y, 2, np.random.default_rng(2), tol=-1.0, max_iter=7).converged
    for tol in np.logspace(-1, -6, 26):
        climb = fit(Y, 2, np.random.default_rng(2), tol=tol, max_iter=400).bound
        small = np.diff(climb) <= tol * np.abs(climb[1:])
        assert small.nonzero()[0].tolist() == [len(climb) - 2]
