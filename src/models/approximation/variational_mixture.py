r"""Variational Bayes for Gaussian mixtures, R restarts at once (PRML 10.2).

    p(pi) = Dir(alpha0)
    p(mu_k, Lambda_k) = N(mu_k | m0, (beta0 Lambda_k)^-1) W(Lambda_k | W0, nu0)
    q(Z, pi, mu, Lambda) = q(Z) q(pi) prod_k q(mu_k, Lambda_k)

The factors are of the same families as the priors. With q(Z) at its best for the other factors the
bound is

    L = sum_n ln sum_k rho_nk - KL(q(pi) || p(pi))
                              - sum_k KL(q(mu_k, Lambda_k) || p(mu_k, Lambda_k))

which equals (10.70) and is shorter. No component can collapse onto a point: W_k^-1 >= W0^-1.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from scipy.special import digamma, gammaln, multigammaln

from models.clustering.gaussian_mixture import Statistics, whitener
from models.clustering.gaussian_mixture_starts import weighted_moments
from models.clustering.mixture import posterior
from models.em import EMFit, expectation_maximisation
from models.types import Floats


class Prior(NamedTuple):
    """Dirichlet and Gaussian-Wishart, the same for every component (10.39), (10.40)."""

    alpha0: float  # > 0
    beta0: float  # > 0
    m0: Floats  # (D,)
    W0_inv: Floats  # (D, D) the inverse of W0: a scatter matrix
    nu0: float  # > D - 1


class VariationalMixture(NamedTuple):
    """The factors q(pi) and q(mu_k, Lambda_k) of R restarts."""

    alpha: Floats  # (R, K) Dirichlet counts
    beta: Floats  # (R, K)
    m: Floats  # (R, K, D) E[mu_k]
    W_inv: Floats  # (R, K, D, D) inverse scale of the Wishart
    nu: Floats  # (R, K) degrees of freedom


def factors(q: Statistics, centre: Floats, prior: Prior) -> VariationalMixture:
    """The factors for responsibilities whose statistics are taken about `centre`, shape (D,)."""
    N, first, second = q
    beta = prior.beta0 + N  # (10.60)
    offset = centre - prior.m0
    # sum_n gamma x + beta0 m0, about m0 throughout.
    shift = (first + N[..., None] * offset) / beta[..., None]
    cross = first[..., :, None] * offset
    about_m0 = second + cross + cross.swapaxes(-1, -2)
    about_m0 = about_m0 + N[..., None, None] * (offset[:, None] * offset)
    spread = about_m0 - beta[..., None, None] * (shift[..., :, None] * shift[..., None, :])
    return VariationalMixture(
        prior.alpha0 + N,  # (10.58)
        beta,
        prior.m0 + shift,  # (10.61)
        prior.W0_inv + spread,  # (10.62)
        prior.nu0 + N,  # (10.63)
    )


def expected_covariance(theta: VariationalMixture) -> Floats:
    """The inverse of E[Lambda_k] = nu_k W_k, shape (R, K, D, D)."""
    return np.asarray(theta.W_inv / theta.nu[..., None, None])


def log_rho(X: Floats, theta: VariationalMixture) -> Floats:
    """Unnormalised log responsibilities ln rho_nk, shape (R, N, K)."""
    D = X.shape[1]
    difference = X.T - theta.m[..., None]  # (R, K, D, N)
    y = whitener(theta.W_inv) @ difference
    distance = D / theta.beta[..., None] + theta.nu[..., None] * (y**2).sum(-2)  # (10.64)
    log_pi = digamma(theta.alpha) - digamma(theta.alpha.sum(1, keepdims=True))  # (10.66)
    constant = log_pi + 0.5 * expected_log_det(theta) - 0.5 * D * np.log(2 * np.pi)
    return np.asarray((constant[..., None] - 0.5 * distance).swapaxes(1, 2))  # (10.46)


def expected_log_det(theta: VariationalMixture) -> Floats:
    """E[ln |Lambda_k|], shape (R, K)."""
    D = theta.m.shape[-1]
    halves = 0.5 * (theta.nu[..., None] - np.arange(D))
    return np.asarray(digamma(halves).sum(-1) + D * np.log(2) - _log_det(theta.W_inv))  # (10.65)


def kl_to_prior(theta: VariationalMixture, prior: Prior) -> Floats:
    """KL from the factors of pi, mu and Lambda to their priors, shape (R,)."""
    K, D = theta.m.shape[1:]
    alpha, total = theta.alpha, theta.alpha.sum(1)
    expected = digamma(alpha) - digamma(total)[:, None]
    kl = gammaln(total) - gammaln(alpha).sum(1) - gammaln(K * prior.alpha0)
    kl = kl + K * gammaln(prior.alpha0) + ((alpha - prior.alpha0) * expected).sum(1)

    log_det = expected_log_det(theta)
    W = whitener(theta.W_inv)
    C = np.linalg.cholesky(prior.W0_inv)
    trace = ((W @ C) ** 2).sum((-2, -1))  # tr(W0^-1 W_k)
    wishart = _log_B(theta.W_inv, theta.nu) - _log_B(prior.W0_inv, np.asarray(prior.nu0))
    wishart = wishart + 0.5 * (theta.nu - prior.nu0) * log_det + 0.5 * theta.nu * (trace - D)
    ratio = prior.beta0 / theta.beta
    moved = ((W @ (theta.m - prior.m0)[..., None]) ** 2).sum((-2, -1))
    gaussian = 0.5 * (D * (ratio - 1 - np.log(ratio)) + prior.beta0 * theta.nu * moved)
    return np.asarray(kl + (wishart + gaussian).sum(1))


def fit(
    X: Floats,
    gamma: Floats,
    prior: Prior,
    *,
    tol: float = 1e-8,
    max_iter: int = 500,
    snapshots: Collection[int] = (),
) -> EMFit[VariationalMixture]:
    """Variational EM from the responsibilities (R, N, K); the objective is the lower bound L."""
    centre = X.mean(0)

    def e_step(theta: VariationalMixture) -> tuple[Statistics, Floats]:
        r, log_sum = posterior(log_rho(X, theta))  # (10.49)
        return weighted_moments(X, r), log_sum.sum(1) - kl_to_prior(theta, prior)

    return expectation_maximisation(
        factors(weighted_moments(X, gamma), centre, prior),
        e_step,
        lambda _, q: factors(q, centre, prior),
        tol=tol,
        max_iter=max_iter,
        snapshots=snapshots,
    )


def _log_det(S: Floats) -> Floats:
    return np.asarray(np.linalg.slogdet(S).logabsdet)


def _log_B(W_inv: Floats, nu: Floats) -> Floats:
    """Log B(W, nu), the normaliser of the Wishart distribution (B.79)."""
    D = W_inv.shape[-1]
    return np.asarray(0.5 * nu * (_log_det(W_inv) - D * np.log(2)) - multigammaln(0.5 * nu, D))
