"""Variational PPCA: the bound against sampling, updates against naive loops, the limits."""

import numpy as np
import pytest
from scipy.stats import gamma, multivariate_normal, norm

from bythebook.models.latent.variational_ppca import (
    bound,
    divergence,
    expected_error,
    fit,
    log_score,
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


def by_loops(Y, seen, mu_w, a, b, *, latent, times):
    """The updates of 7.5.1 and 7.6, one object after the other, for one data set."""
    (N, M), D = Y.shape, mu_w.shape[1]
    weight = np.ones((N, M)) if latent else seen
    y = np.where(seen > 0, Y, 0.0)
    spread = np.zeros((N, M))
    mu_x, S_x = np.zeros((N, D)), np.zeros((N, D, D))
    mu_w, S_w = mu_w.copy(), np.tile(np.eye(D), (M, 1, 1))
    e, f = a, b

    def factor(weights, values, mu, S):
        precision, first = np.eye(D), np.zeros(D)
        for i in range(len(mu)):
            precision += e / f * weights[i] * (S[i] + np.outer(mu[i], mu[i]))
            first += e / f * weights[i] * values[i] * mu[i]
        return np.linalg.inv(precision) @ first, np.linalg.inv(precision)

    for _ in range(times):
        for n in range(N):
            mu_x[n], S_x[n] = factor(weight[n], y[n], mu_w, S_w)
        for m in range(M):
            mu_w[m], S_w[m] = factor(weight[:, m], y[:, m], mu_x, S_x)
        error = np.zeros((N, M))
        for n, m in np.ndindex(N, M):
            xx, ww = S_x[n] + np.outer(mu_x[n], mu_x[n]), S_w[m] + np.outer(mu_w[m], mu_w[m])
            cross = mu_x[n] @ mu_w[m] * y[n, m]
            error[n, m] = y[n, m] ** 2 + spread[n, m] - 2 * cross + np.trace(xx @ ww)
        e, f = a + weight.sum() / 2, b + (weight * error).sum() / 2
        if latent:
            y = np.where(seen > 0, Y, mu_x @ mu_w.T)
            spread = np.where(seen > 0, 0.0, f / e)
    return mu_x, S_x, mu_w, S_w, e, f, y, spread


@pytest.mark.filterwarnings("ignore::bythebook.models.convergence.NotConverged")
@pytest.mark.parametrize("treatment", ["switches", "latent"])
@pytest.mark.parametrize("times", [1, 3])
def test_whole_iterations_as_loops(problem, treatment, times):
    Y, seen = problem
    options = {"treatment": treatment, "max_iter": times, "tol": 0.0}
    found = fit(Y, seen, 2, np.random.default_rng(3), a=1.5, b=0.7, **options)
    mu_w = np.random.default_rng(3).standard_normal((2, 4, 2))  # where the iteration begins
    how = {"latent": treatment == "latent", "times": times}
    for r in range(2):
        expected = by_loops(Y[r], seen[r], mu_w[r], 1.5, 0.7, **how)
        for name, right in zip(found.q._fields, expected, strict=True):
            np.testing.assert_allclose(getattr(found.q, name)[r], right, rtol=1e-9, err_msg=name)
    assert found.iterations.tolist() == [times, times]
    assert found.bound.shape == (2, times)


def test_a_data_set_has_converged_when_its_bound_gains_no_more(problem):
    """Each stops at its own iteration; later values are NaN, and the last value is that of Q."""
    Y, seen = problem
    long = fit(Y, seen, 2, np.random.default_rng(3), tol=0.0, max_iter=60).bound
    found = fit(Y, seen, 2, np.random.default_rng(3), tol=0.05, max_iter=60)
    gains = np.abs(np.diff(long))
    expected = 2 + (gains <= 0.05).argmax(axis=1)  # the first gain is that of the second iteration
    assert expected[0] != expected[1]
    assert found.iterations.tolist() == expected.tolist()
    assert found.bound.shape == (2, expected.max())
    for r in range(2):
        np.testing.assert_allclose(found.bound[r, : expected[r]], long[r, : expected[r]])
        assert np.isnan(found.bound[r, expected[r] :]).all()
    final = bound(found.q, seen, 1.0, 1.0)
    later = expected.argmax()
    np.testing.assert_allclose(found.bound[later, -1], final[later])


def test_the_bound_with_factors_of_missing_values(problem, rng):
    Y, seen = problem
    q = fit(Y, seen, 2, rng, a=1.5, b=0.7, max_iter=3, treatment="latent").q
    x, w, tau = samples(q, 0, 20_000, rng)
    missing = seen[0] == 0
    sd = np.sqrt(q.y_variance[0][missing])
    drawn = q.y[0][missing] + sd * rng.standard_normal((len(tau), missing.sum()))
    y = np.tile(Y[0], (len(tau), 1, 1))
    y[:, missing] = drawn
    log_p = gamma.logpdf(tau, 1.5, scale=1 / 0.7) - gamma.logpdf(tau, q.e[0], scale=1 / q.f[0])
    log_p += norm.logpdf(y, x @ w.swapaxes(1, 2), tau[:, None, None] ** -0.5).sum(axis=(1, 2))
    log_p -= norm.logpdf(drawn, q.y[0][missing], sd).sum(axis=1)
    log_p -= divergence(q.mu_x, q.Sigma_x)[0] + divergence(q.mu_w, q.Sigma_w)[0]
    error = log_p.std() / np.sqrt(len(tau))
    assert error < 0.1
    assert bound(q, np.ones_like(seen), 1.5, 0.7)[0] == pytest.approx(log_p.mean(), abs=4 * error)


def test_divergence_from_a_standard_normal_by_its_definition(rng):
    mu = rng.standard_normal((1, 3, 2))
    root = rng.standard_normal((1, 3, 2, 2))
    Sigma = root @ root.swapaxes(-1, -2) + 0.1 * np.eye(2)
    expected = 0.0
    for m, S in zip(mu[0], Sigma[0], strict=True):
        cross = -multivariate_normal.logpdf(m, np.zeros(2), np.eye(2)) + np.trace(S) / 2
        expected += cross - multivariate_normal(m, S).entropy()
    np.testing.assert_allclose(divergence(mu, Sigma), [expected], rtol=1e-12)


def test_the_score_of_removed_values_is_a_mean_of_log_densities(problem, rng):
    Y, seen = problem
    q, removed = fit(Y, seen, 2, rng).q, seen == 0
    mean, variance = predict(q)
    noise = np.broadcast_to((q.f / q.e)[:, None, None], Y.shape)
    for treatment, spread in (("switches", variance), ("latent", noise)):
        expected = norm.logpdf(Y, mean, np.sqrt(spread))[removed].mean()
        assert log_score(Y, removed, q, treatment) == pytest.approx(expected, rel=1e-12)
