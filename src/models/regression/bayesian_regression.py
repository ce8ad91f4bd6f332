r"""Bayesian linear regression with known noise: posterior, prediction and evidence.

    w ~ N(mu_0, Sigma_0),   t | w ~ N(Phi w, sigma^2 I)                                     FCML 3.7

    Sigma_w = (Phi^T Phi / sigma^2 + Sigma_0^-1)^-1                                             3.22
    mu_w    = Sigma_w (Phi^T t / sigma^2 + Sigma_0^-1 mu_0)                                     3.23
    p(t_new) = N(x^T mu_w, sigma^2 + x^T Sigma_w x)                                            3.7.6
    p(t)    = N(Phi mu_0, sigma^2 I + Phi Sigma_0 Phi^T)                                        3.24

For mu_0 = 0 and Sigma_0 = s I the last covariance has the eigenvalues sigma^2 + s d_i^2, d_i being
the singular values of Phi, and sigma^2 for the rest: one decomposition gives the evidence for every
prior variance s. Evidences underflow (about e^-410 for a hundred points), so their logs are given.

With w known and sigma^2 unknown the inverse gamma prior is conjugate (FCML Exercise 3.12):

    sigma^2 ~ IG(alpha, beta)   =>   sigma^2 | t ~ IG(alpha + N / 2, beta + |t - Phi w|^2 / 2)
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import gammaln

from bythebook.models.types import Floats


class Posterior(NamedTuple):
    """p(w | t) = N(mean, covariance)."""

    mean: Floats  # (D,) also the most probable w
    covariance: Floats  # (D, D)


def posterior(
    Phi: Floats, t: Floats, sigma2: float, prior_mean: Floats, prior_covariance: Floats
) -> Posterior:
    """The posterior of the weights of Phi (N, D) given t (N,)."""
    eye = np.eye(Phi.shape[1])
    prior_precision = cho_solve(cho_factor(prior_covariance), eye)
    factor = cho_factor(Phi.T @ Phi / sigma2 + prior_precision)
    mean = cho_solve(factor, Phi.T @ t / sigma2 + prior_precision @ prior_mean)  # FCML 3.23
    return Posterior(mean, cho_solve(factor, eye))  # FCML 3.22


class Predictive(NamedTuple):
    """p(t_new | x, t) = N(mean, variance) at each of M inputs."""

    mean: Floats  # (M,)
    variance: Floats  # (M,) that of the line plus that of the noise


def predictive(Phi: Floats, sigma2: float, weights: Posterior) -> Predictive:
    """Predictive distribution at inputs Phi (M, D), averaged over the weights (FCML 3.7.6)."""
    variance = sigma2 + np.sum(Phi @ weights.covariance * Phi, axis=-1)
    return Predictive(Phi @ weights.mean, np.asarray(variance))


def equivalent_kernel(at: Floats, Phi: Floats, sigma2: float, weights: Posterior) -> Floats:
    """The weight of each of N targets in the mean prediction at M inputs, (M, N); notes 2.2.3."""
    return np.asarray(at @ weights.covariance @ Phi.T / sigma2)


class InverseGamma(NamedTuple):
    """p(v) = beta^alpha / Gamma(alpha) v^(-alpha - 1) exp(-beta / v)."""

    alpha: float
    beta: float

    def log_density(self, v: Floats) -> Floats:
        normaliser = self.alpha * np.log(self.beta) - gammaln(self.alpha)
        return np.asarray(normaliser - (self.alpha + 1) * np.log(v) - self.beta / v)


def noise_posterior(residuals: Floats, prior: InverseGamma) -> InverseGamma:
    """The posterior of the noise variance given t - Phi w (N,), w being known."""
    total = float(residuals @ residuals)
    return InverseGamma(prior.alpha + len(residuals) / 2, prior.beta + total / 2)  # EX 3.12


def log_evidence(Phi: Floats, t: Floats, sigma2: float, prior_variances: Floats) -> Floats:
    """The log evidence ln p(t) for each of S prior variances, shape (S, ...).

    Phi has shape (..., N, D) and t (..., N): a batch of data sets.
    """
    U, d, _ = np.linalg.svd(Phi, full_matrices=False)
    c = np.vecmat(t, U)  # (..., r)
    rest = t - np.matvec(U, c)  # the residual of the best weights
    s = np.asarray(prior_variances, dtype=np.float64).reshape(-1, *(1,) * d.ndim)
    eigenvalues = sigma2 + s * d**2  # (S, ..., r)
    N, r = U.shape[-2:]
    log_det = np.log(eigenvalues).sum(-1) + (N - r) * np.log(sigma2)
    mahalanobis = (c**2 / eigenvalues).sum(-1) + (rest**2).sum(-1) / sigma2
    return np.asarray(-(N * np.log(2 * np.pi) + log_det + mahalanobis) / 2)  # FCML 3.24
