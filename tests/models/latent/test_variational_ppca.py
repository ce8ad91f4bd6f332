"""Variational PPCA: the bound against sampling, updates against naive loops, the limits."""

import numpy as np
import pytest
from scipy.stats import gamma, multivariate_normal, norm

from models.latent.variational_ppca import (
    bound,
    error_as_printed,
    expected_error,
    fit,
    predict,
)


@pytest.fixture
def rng():
    return np.random.default_rng(75)


@pytest.fixture
def problem(rng):
    Y = rng.standard_normal((2, 12, 2)) @ rng.standard_normal((2, 4)) + 0.5 * rng.standard_normal(
        (2, 12, 4)
    )
    return Y, (rng.random(Y.shape) > 0.2).astype(float)


def samples(q, r, S, rng):
    x = np.stack(
        [rng.multivariate_normal(m, C, S) for m, C in zip(q.mu_x[r], q.Sigma_x[r], strict=True)], 1
    )
    w = np.stack(
        [rng.multivariate_normal(m, C, S) for m, C in zip(q.mu_w[r], q.Sigma_w[r], strict=True)], 1
    )
    return x, w, rng.gamma(q.e[r], 1 / q.f[r], S)


def test_the_bound_is_the_expectation_it_stands_for(problem, rng):
    Y, seen = problem
    q = fit(Y, seen, 2, rng, a=1.5, b=0.7, max_iter=3).q
    x, w, tau = samples(q, 0, 6000, rng)
    eye = np.eye(2)
    log_p = gamma.logpdf(tau, 1.5, scale=1 / 0.7) - gamma.logpdf(tau, q.e[0], scale=1 / q.f[0])
    likelihood = norm.logpdf(Y[0], x @ w.swapaxes(1, 2), tau[:, None, None] ** -0.5)
    log_p += (seen[0] * likelihood).sum(axis=(1, 2))
    for v, mu, Sigma in ((x, q.mu_x[0], q.Sigma_x[0]), (w, q.mu_w[0], q.Sigma_w[0])):
        for i in range(len(mu)):
            log_p += multivariate_normal.logpdf(v[:, i], np.zeros(2), eye)
            log_p -= multivariate_normal.logpdf(v[:, i], mu[i], Sigma[i])
    error = log_p.std() / np.sqrt(len(tau))
    assert error < 0.5
    assert bound(q, seen, 1.5, 0.7)[0] == pytest.approx(log_p.mean(), abs=4 * error)


def test_the_updates_as_loops_over_objects(problem, rng):
    Y, seen = problem
    first = fit(Y, seen, 2, np.random.default_rng(3), max_iter=1).q
    mu_w = np.random.default_rng(3).standard_normal((2, 4, 2))  # where the iteration begins
    for n in range(12):
        A, v = np.eye(2), np.zeros(2)
        for m in range(4):
            A += seen[0, n, m] * (np.eye(2) + np.outer(mu_w[0, m], mu_w[0, m]))
            v += seen[0, n, m] * Y[0, n, m] * mu_w[0, m]
        np.testing.assert_allclose(first.Sigma_x[0, n] @ A, np.eye(2), atol=1e-10)
        np.testing.assert_allclose(A @ first.mu_x[0, n], v, atol=1e-10)
    total = seen[0].sum()
    assert first.e[0] == pytest.approx(1 + total / 2)
    assert first.f[0] == pytest.approx(1 + (seen[0] * expected_error(first)[0]).sum() / 2)


@pytest.mark.parametrize("treatment", ["switches", "latent"])
def test_the_bound_never_falls(problem, rng, treatment):
    run = fit(*problem, 2, rng, treatment=treatment, tol=1e-8, max_iter=300)
    assert np.nanmin(np.diff(run.bound)) > -1e-9
    assert run.iterations.min() > 5


def test_the_printed_f_is_another(problem, rng):
    Y, seen = problem
    q = fit(Y, seen, 2, rng).q
    mean = q.mu_x @ q.mu_w.swapaxes(1, 2)
    difference = expected_error(q) - error_as_printed(q)
    np.testing.assert_allclose(difference, 2 * mean * (1 - q.y), atol=1e-10)


def test_predictions_are_moments_of_samples(problem, rng):
    q = fit(*problem, 2, rng).q
    mean, variance = predict(q)
    x, w, _ = samples(q, 1, 40_000, rng)
    y = (x[:, 2] * w[:, 3]).sum(axis=1)
    y = y + rng.standard_normal(len(y)) / np.sqrt(q.tau[1])  # the text takes tau at its mean
    assert y.mean() == pytest.approx(mean[1, 2, 3], abs=0.03)
    assert y.var() == pytest.approx(variance[1, 2, 3], rel=0.05)


def test_with_nothing_missing_both_treatments_agree(problem):
    Y, _ = problem
    one, two = (
        fit(Y, np.ones_like(Y), 2, np.random.default_rng(1), treatment=treatment).q
        for treatment in ("switches", "latent")
    )
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    assert np.ptp(one.Sigma_x, axis=1).max() < 1e-12  # one covariance for all, 7.5.2


def test_missing_as_latent_gives_one_covariance_and_switches_do_not(problem, rng):
    latent = fit(*problem, 2, rng, treatment="latent").q
    switches = fit(*problem, 2, rng).q
    assert np.ptp(latent.Sigma_x, axis=1).max() < 1e-12
    assert np.ptp(switches.Sigma_x, axis=1).max() > 1e-3
