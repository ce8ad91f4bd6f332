r"""Variational Bayes for Gaussian mixtures, R restarts at once (PRML 10.2).

    p(pi) = Dir(alpha0)
    p(mu_k, Lambda_k) = N(mu_k | m0, (beta0 Lambda_k)^-1) W(Lambda_k | W0, nu0)
    q(Z, pi, mu, Lambda) = q(Z) q(pi) prod_k q(mu_k, Lambda_k)

The factors are of the same families as the priors. With q(Z) at its best for the other factors the
bound is

    L = sum_n ln sum_k rho_nk - KL(q(pi) || p(pi))
                              - sum_k KL(q(mu_k, Lambda_k) || p(mu_k, Lambda_k))

which equals (10.70) and is shorter. No component can collapse onto a point: W_k^-1 >= W0^-1.

alpha0 = 0 stands for mixing coefficients that are parameters and maximise the bound (10.83); then
pi_k = N_k / N, and the divergence of their factor is left out.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from scipy.special import digamma, gammaln, multigammaln

from bythebook.models.clustering.gaussian_mixture import Statistics, statistics, whitener
from bythebook.models.clustering.gaussian_mixture_starts import weighted_moments
from bythebook.models.clustering.mixture import log_proportions, mixing_proportions, posterior
from bythebook.models.em import EMFit, expectation_maximisation
from bythebook.models.types import Floats


class Prior(NamedTuple):
    """Dirichlet and Gaussian-Wishart, the same for every component (10.39), (10.40)."""

    alpha0: float  # > 0, or 0 for coefficients that are parameters
    beta0: float  # > 0
    m0: Floats  # (D,)
    W0_inv: Floats  # (D, D) the inverse of W0: a scatter matrix
    nu0: float  # > D - 1


class VariationalMixture(NamedTuple):
    """The factors q(pi) and q(mu_k, Lambda_k) of R restarts."""

    alpha: Floats  # (R, K) Dirichlet counts; N_k where coefficients are parameters
    beta: Floats  # (R, K)
    m: Floats  # (R, K, D) E[mu_k]
    W_inv: Floats  # (R, K, D, D) inverse scale of the Wishart
    nu: Floats  # (R, K) degrees of freedom


def factors(q: Statistics, centre: Floats, prior: Prior) -> VariationalMixture:
    """The factors for statistics about `centre`, shape (D,), or that of each component."""
    N, first, second = q
    beta = prior.beta0 + N  # (10.60)
    offset = np.broadcast_to(centre - prior.m0, first.shape)
    # sum_n gamma x + beta0 m0, about m0 throughout.
    shift = (first + N[..., None] * offset) / beta[..., None]
    cross = first[..., :, None] * offset[..., None, :]
    about_m0 = second + cross + cross.swapaxes(-1, -2)
    about_m0 = about_m0 + N[..., None, None] * (offset[..., :, None] * offset[..., None, :])
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


def log_rho(X: Floats, theta: VariationalMixture, *, point: bool = False) -> Floats:
    """Unnormalised log responsibilities ln rho_nk, shape (R, N, K)."""
    difference = X.T - theta.m[..., None]  # (R, K, D, N)
    y = whitener(theta.W_inv) @ difference
    distance = theta.nu[..., None] * (y**2).sum(-2)  # (10.64)
    rho = log_height(theta, point=point)[..., None] - 0.5 * distance
    return np.asarray(rho.swapaxes(1, 2))  # (10.46)


def log_height(theta: VariationalMixture, *, point: bool) -> Floats:
    """The value of ln rho_nk at x_n = m_k, shape (R, K)."""
    D = theta.m.shape[-1]
    constant = 0.5 * expected_log_det(theta) - 0.5 * D * (np.log(2 * np.pi) + 1 / theta.beta)
    return np.asarray(expected_log_mixing(theta, point=point) + constant)


def expected_log_mixing(theta: VariationalMixture, *, point: bool = False) -> Floats:
    """E[ln pi_k], or ln pi_k where the coefficients are parameters, shape (R, K)."""
    if point:
        return log_proportions(mixing_proportions(theta.alpha))  # (10.83)
    total = theta.alpha.sum(-1, keepdims=True)
    return np.asarray(digamma(theta.alpha) - digamma(total))  # (10.66)


def expected_log_det(theta: VariationalMixture) -> Floats:
    """E[ln |Lambda_k|], shape (R, K)."""
    D = theta.m.shape[-1]
    halves = 0.5 * (theta.nu[..., None] - np.arange(D))
    return np.asarray(digamma(halves).sum(-1) + D * np.log(2) - log_det(theta.W_inv))  # (10.65)


def kl_to_prior(theta: VariationalMixture, prior: Prior) -> Floats:
    """KL from the factors of pi, mu and Lambda to their priors, shape (R,)."""
    kl = components_kl(theta, prior).sum(-1)
    if prior.alpha0 == 0:
        return np.asarray(kl)
    K, alpha, total = theta.alpha.shape[-1], theta.alpha, theta.alpha.sum(-1)
    kl = kl + gammaln(total) - gammaln(alpha).sum(-1) - gammaln(K * prior.alpha0)
    expected = expected_log_mixing(theta)
    return np.asarray(kl + K * gammaln(prior.alpha0) + ((alpha - prior.alpha0) * expected).sum(-1))


def components_kl(theta: VariationalMixture, prior: Prior) -> Floats:
    """KL from each factor q(mu_k, Lambda_k) to its prior, shape (R, K)."""
    D = theta.m.shape[-1]
    log_precision = expected_log_det(theta)
    W = whitener(theta.W_inv)
    C = np.linalg.cholesky(prior.W0_inv)
    trace = ((W @ C) ** 2).sum((-2, -1))  # tr(W0^-1 W_k)
    wishart = log_B(theta.W_inv, theta.nu) - log_B(prior.W0_inv, np.asarray(prior.nu0))
    wishart = wishart + 0.5 * (theta.nu - prior.nu0) * log_precision + 0.5 * theta.nu * (trace - D)
    ratio = prior.beta0 / theta.beta
    moved = ((W @ (theta.m - prior.m0)[..., None]) ** 2).sum((-2, -1))
    gaussian = 0.5 * (D * (ratio - 1 - np.log(ratio)) + prior.beta0 * theta.nu * moved)
    return np.asarray(wishart + gaussian)


def log_predictive(X: Floats, theta: VariationalMixture) -> Floats:
    """Log density of new points X (M, D), a mixture of Student's t, shape (R, M)."""
    D = X.shape[1]
    degrees = theta.nu + 1 - D  # (10.81)
    scale = theta.beta / (1 + theta.beta)  # L_k = degrees scale W_k (10.82)
    y = whitener(theta.W_inv) @ (X.T - theta.m[..., None])
    square = scale[..., None] * (y**2).sum(-2)  # (x - m_k)^T L_k (x - m_k) / degrees
    height = gammaln((degrees + D) / 2) - gammaln(degrees / 2) - 0.5 * D * np.log(np.pi)
    height = height + 0.5 * (D * np.log(scale) - log_det(theta.W_inv))
    log_weight = np.log(theta.alpha / theta.alpha.sum(-1, keepdims=True)) + height
    log_p = log_weight[..., None] - 0.5 * (degrees + D)[..., None] * np.log1p(square)
    return posterior(log_p, axis=-2)[1]


def fit(
    X: Floats,
    gamma: Floats,
    prior: Prior,
    *,
    tol: float,
    max_iter: int,
    snapshots: Collection[int] = (),
) -> EMFit[VariationalMixture]:
    """Variational EM from the responsibilities (R, N, K); the objective is the lower bound L."""
    point = prior.alpha0 == 0

    def e_step(theta: VariationalMixture) -> tuple[Statistics, Floats]:
        W = whitener(theta.W_inv) * np.sqrt(theta.nu)[..., None, None]
        q, log_sum = statistics(X, theta.m, W, log_height(theta, point=point))  # (10.49)
        return q, log_sum - kl_to_prior(theta, prior)

    return expectation_maximisation(
        factors(weighted_moments(X, gamma), X.mean(0), prior),
        e_step,
        lambda theta, q: factors(q, theta.m, prior),
        tol=tol,
        max_iter=max_iter,
        snapshots=snapshots,
    )


def log_det(S: Floats) -> Floats:
    """Log determinants of matrices (..., D, D)."""
    return np.asarray(np.linalg.slogdet(S).logabsdet)


def log_B(W_inv: Floats, nu: Floats) -> Floats:
    """Log B(W, nu), the normaliser of the Wishart distribution (B.79)."""
    D = W_inv.shape[-1]
    return np.asarray(0.5 * nu * (log_det(W_inv) - D * np.log(2)) - multigammaln(0.5 * nu, D))
