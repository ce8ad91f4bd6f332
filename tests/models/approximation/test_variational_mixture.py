"""Variational mixtures against scikit-learn, the ten terms of PRML's bound, and brute force."""

import numpy as np
import pytest
from scipy.special import digamma, gammaln
from scipy.stats import wishart
from sklearn.mixture import BayesianGaussianMixture

from bythebook.models.approximation.variational_mixture import (
    Prior,
    VariationalMixture,
    expected_covariance,
    expected_log_det,
    factors,
    fit,
    kl_to_prior,
    log_predictive,
    log_rho,
)
from bythebook.models.clustering.gaussian_mixture_starts import weighted_moments
from bythebook.models.clustering.mixture import posterior
from bythebook.models.types import Floats


@pytest.fixture(name="X")
def make_data() -> Floats:
    rng = np.random.default_rng(5)
    return np.concatenate([rng.normal([-2, 1], 0.6, (40, 2)), rng.normal([2, 0], 0.9, (50, 2))])


@pytest.fixture(name="prior")
def make_prior() -> Prior:
    return Prior(0.7, 0.3, np.array([0.2, -0.1]), np.array([[1.0, 0.2], [0.2, 0.8]]), 3.5)


def random_gamma(X: Floats, K: int, restarts: int = 1) -> Floats:
    return np.random.default_rng(1).dirichlet(np.ones(K), (restarts, len(X)))


def test_factors_match_the_printed_updates(X: Floats, prior: Prior) -> None:
    gamma = random_gamma(X, 3)
    theta = factors(weighted_moments(X, gamma), X.mean(0), prior)
    for k in range(3):
        r = gamma[0, :, k]
        N = r.sum()
        mean = (r[:, None] * X).sum(0) / N
        S = (r[:, None, None] * ((X - mean)[:, :, None] * (X - mean)[:, None, :])).sum(0) / N
        beta = prior.beta0 + N
        away = mean - prior.m0
        W_inv = prior.W0_inv + N * S + prior.beta0 * N / beta * np.outer(away, away)
        np.testing.assert_allclose(theta.m[0, k], (prior.beta0 * prior.m0 + N * mean) / beta)
        np.testing.assert_allclose(theta.W_inv[0, k], W_inv, rtol=1e-10)
        np.testing.assert_allclose(theta.nu[0, k], prior.nu0 + N)


def test_bound_is_the_sum_of_the_seven_printed_terms(X: Floats, prior: Prior) -> None:
    theta = fit(X, random_gamma(X, 2), prior, max_iter=4, tol=-np.inf).theta
    r, log_sum = posterior(log_rho(X, theta))
    L = log_sum.sum(1) - kl_to_prior(theta, prior)
    assert L[0] == pytest.approx(printed_bound(X, r[0], theta, prior), rel=1e-10)


def printed_bound(X: Floats, r: Floats, theta: VariationalMixture, prior: Prior) -> float:
    """(10.71)-(10.77) term by term, with the correct alpha0 in (10.69)."""
    alpha, beta, m, W_inv, nu = (field[0] for field in theta)
    K, D = m.shape
    log_pi = digamma(alpha) - digamma(alpha.sum())
    log_det = expected_log_det(theta)[0]
    total = 0.0

    def log_B(inverse: Floats, degrees: float) -> float:
        terms = gammaln((degrees + 1 - np.arange(1, D + 1)) / 2).sum() + D * (D - 1) / 4 * np.log(
            np.pi
        )
        return float(
            degrees / 2 * np.linalg.slogdet(inverse)[1] - degrees * D / 2 * np.log(2) - terms
        )

    def log_C(counts: Floats) -> float:
        return float(gammaln(counts.sum()) - gammaln(counts).sum())

    prior_counts = np.full(K, prior.alpha0)
    for k in range(K):
        N = r[:, k].sum()
        mean = (r[:, k, None] * X).sum(0) / N
        S = (r[:, k, None, None] * ((X - mean)[:, :, None] * (X - mean)[:, None, :])).sum(0) / N
        W = np.linalg.inv(W_inv[k])
        away = mean - m[k]
        inner = log_det[k] - D / beta[k] - nu[k] * np.trace(S @ W) - nu[k] * away @ W @ away
        total += 0.5 * N * (inner - D * np.log(2 * np.pi))  # (10.71)
        away = m[k] - prior.m0
        inner = D * np.log(prior.beta0 / (2 * np.pi)) + log_det[k] - D * prior.beta0 / beta[k]
        total += 0.5 * (inner - prior.beta0 * nu[k] * away @ W @ away)  # (10.74), first part
        total += log_B(prior.W0_inv, prior.nu0) + 0.5 * (prior.nu0 - D - 1) * log_det[k]
        total -= 0.5 * nu[k] * np.trace(prior.W0_inv @ W)
        entropy = -log_B(W_inv[k], nu[k]) - 0.5 * (nu[k] - D - 1) * log_det[k] + 0.5 * nu[k] * D
        total -= (
            0.5 * log_det[k] + D / 2 * np.log(beta[k] / (2 * np.pi)) - D / 2 - entropy
        )  # (10.77)
    total += (r * log_pi).sum() - (r * np.log(r)).sum()  # (10.72), (10.75)
    total += log_C(prior_counts) + (prior.alpha0 - 1) * log_pi.sum()  # (10.73)
    return total - ((alpha - 1) * log_pi).sum() - log_C(alpha)  # (10.76)


def test_expected_log_determinant_is_that_of_wishart_draws(prior: Prior) -> None:
    theta = VariationalMixture(
        np.ones((1, 1)),
        np.ones((1, 1)),
        np.zeros((1, 1, 2)),
        prior.W0_inv[None, None],
        np.array([[6.0]]),
    )
    draws = wishart(6, np.linalg.inv(prior.W0_inv)).rvs(40_000, random_state=0)
    expected = np.linalg.slogdet(draws)[1].mean()
    assert expected_log_det(theta)[0, 0] == pytest.approx(expected, abs=0.02)


def test_bound_never_falls(X: Floats, prior: Prior) -> None:
    em = fit(X, random_gamma(X, 5, restarts=10), prior, tol=0, max_iter=300)
    assert not (np.diff(em.objective) < -1e-9).any()
    smallest = np.linalg.eigvalsh(em.theta.W_inv)[..., 0].min()
    assert smallest >= np.linalg.eigvalsh(prior.W0_inv)[0] * (1 - 1e-9)


def test_no_half_of_an_iteration_lowers_the_printed_bound(X: Floats, prior: Prior) -> None:
    """PRML 10.2.2: neither the update of the responsibilities nor that of the other factors."""
    theta = factors(weighted_moments(X, random_gamma(X, 3)), X.mean(0), prior)
    bound = []
    for _ in range(12):
        r = posterior(log_rho(X, theta))[0]
        bound.append(printed_bound(X, r[0], theta, prior))
        theta = factors(weighted_moments(X, r), X.mean(0), prior)
        bound.append(printed_bound(X, r[0], theta, prior))
    assert np.diff(bound).min() > -1e-9
    assert bound[-1] > bound[0] + 1


def test_updates_are_maxima_of_the_printed_bound(X: Floats, prior: Prior) -> None:
    """Any other responsibilities or factors have a lower bound."""
    rng = np.random.default_rng(3)
    before = factors(weighted_moments(X, random_gamma(X, 3)), X.mean(0), prior)
    r = posterior(log_rho(X, before))[0]
    after = factors(weighted_moments(X, r), X.mean(0), prior)
    best_r, best = (printed_bound(X, r[0], theta, prior) for theta in (before, after))
    for _ in range(20):
        moved = r[0] * np.exp(0.05 * rng.standard_normal(r[0].shape))
        moved /= moved.sum(1, keepdims=True)
        assert printed_bound(X, moved, before, prior) < best_r
        root = np.linalg.cholesky(after.W_inv)
        other = VariationalMixture(
            *(part * np.exp(0.05 * rng.standard_normal(part.shape)) for part in after[:2]),
            after.m + 0.05 * rng.standard_normal(after.m.shape),
            root @ (np.eye(2) + 0.05 * np.diag(rng.standard_normal(2))) @ root.mT,
            after.nu * np.exp(0.05 * rng.standard_normal(after.nu.shape)),
        )
        assert printed_bound(X, r[0], other, prior) < best


def test_responsibilities_with_coefficients_as_parameters(X: Floats, prior: Prior) -> None:
    """The logarithms of (10.83) instead of the expected logarithms (10.66)."""
    theta = factors(weighted_moments(X, random_gamma(X, 3)), X.mean(0), prior._replace(alpha0=0))
    change = np.log(theta.alpha / len(X)) - digamma(theta.alpha) + digamma(len(X))
    difference = log_rho(X, theta, point=True) - log_rho(X, theta)
    np.testing.assert_allclose(difference, np.broadcast_to(change[:, None], difference.shape))


def test_scikit_learn_finds_the_same_factors(X: Floats, prior: Prior) -> None:
    ours = fit(X, random_gamma(X, 2), prior, tol=1e-12, max_iter=2000).theta
    theirs = BayesianGaussianMixture(
        n_components=2,
        weight_concentration_prior_type="dirichlet_distribution",
        weight_concentration_prior=prior.alpha0,
        mean_precision_prior=prior.beta0,
        mean_prior=prior.m0,
        degrees_of_freedom_prior=prior.nu0,
        covariance_prior=prior.W0_inv,
        reg_covar=0,
        tol=1e-10,
        max_iter=5000,
        random_state=0,
    ).fit(X)
    order, sk = np.argsort(ours.m[0, :, 0]), np.argsort(theirs.means_[:, 0])
    np.testing.assert_allclose(ours.m[0][order], theirs.means_[sk], atol=1e-4)
    np.testing.assert_allclose(ours.nu[0][order], theirs.degrees_of_freedom_[sk], atol=1e-3)
    np.testing.assert_allclose(
        expected_covariance(ours)[0][order], theirs.covariances_[sk], atol=1e-4
    )


def test_it_ends_after_so_many_steps_or_with_a_gain_so_small(X: Floats, prior: Prior) -> None:
    start = random_gamma(X, 2)
    assert fit(X, start, prior, tol=-np.inf, max_iter=500).iterations.tolist() == [500]
    gains = np.diff(fit(X, start, prior, tol=1e-8, max_iter=500).objective[0])
    assert gains[-1] <= 1e-8 < gains[-2]


def test_predictive_density_is_a_mean_over_the_factors(X: Floats, prior: Prior) -> None:
    theta = factors(weighted_moments(X[::9], random_gamma(X[::9], 2)), X[::9].mean(0), prior)
    rng = np.random.default_rng(2)
    W = np.linalg.inv(theta.W_inv[0])
    pi = rng.dirichlet(theta.alpha[0], 4000)
    density = np.zeros((4000, 3))
    for k in range(2):
        Lambda = wishart(theta.nu[0, k], W[k]).rvs(4000, random_state=rng)
        roots = np.linalg.cholesky(np.linalg.inv(theta.beta[0, k] * Lambda))
        mu = theta.m[0, k] + np.einsum("sde,se->sd", roots, rng.standard_normal((4000, 2)))
        away = X[:3] - mu[:, None]
        square = np.einsum("snd,sde,sne->sn", away, Lambda, away)
        height = np.sqrt(np.linalg.det(Lambda)) / (2 * np.pi)
        density += pi[:, k, None] * height[:, None] * np.exp(-square / 2)
    error = density.std(0) / np.sqrt(4000)
    assert (np.abs(np.exp(log_predictive(X[:3], theta)[0]) - density.mean(0)) < 4 * error).all()


def test_coefficients_as_parameters_are_mean_responsibilities(X: Floats, prior: Prior) -> None:
    prior = prior._replace(alpha0=0.0)
    em = fit(X, random_gamma(X, 3), prior, tol=1e-12, max_iter=3000)
    r = posterior(log_rho(X, em.theta, point=True))[0]
    np.testing.assert_allclose(em.theta.alpha[0] / len(X), r[0].mean(0), atol=1e-6)
    assert not (np.diff(em.objective) < -1e-9).any()
