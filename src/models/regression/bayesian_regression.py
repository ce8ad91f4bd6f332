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

from collections.abc import Iterable
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


def prior_area(variances: Iterable[float], power: float) -> float:
    """The integral over all weights of N(0, diag s) with (2 pi)^power in its normaliser."""
    s = np.fromiter(variances, dtype=np.float64)[:, None]
    w = np.sqrt(s) * np.linspace(-12, 12, 2001)
    areas = np.trapezoid(np.exp(-(w**2) / (2 * s)), w, axis=-1)
    return float(np.prod(areas / np.sqrt(s[:, 0])) / (2 * np.pi) ** power)  # FCML 3.7.4


def map_weights(Phi: Floats, t: Floats, sigma2: float, prior_variances: Iterable[float]) -> Floats:
    """The most probable weights (S, D) under each of the priors N(0, s I) (FCML 3.7.4)."""
    zero, eye = np.zeros(Phi.shape[1]), np.eye(Phi.shape[1])
    return np.array([posterior(Phi, t, sigma2, zero, s * eye).mean for s in prior_variances])


class Predictive(NamedTuple):
    """p(t_new | x, t) = N(mean, variance) at each of M inputs."""

    mean: Floats  # (M,)
    variance: Floats  # (M,) that of the line plus that of the noise


def predictive(Phi: Floats, sigma2: float, weights: Posterior) -> Predictive:
    """Predictive distribution at inputs Phi (M, D), averaged over the weights (FCML 3.7.6)."""
    variance = sigma2 + np.sum(Phi @ weights.covariance * Phi, axis=-1)
    return Predictive(Phi @ weights.mean, np.asarray(variance))


def with_one_more(belief: Posterior, phi: Floats, t: float, sigma2: float) -> Posterior:
    """The posterior after one more point with basis functions phi (D,); `belief` is its prior."""
    spread = belief.covariance @ phi
    total = sigma2 + phi @ spread  # the variance with which t was expected
    mean = belief.mean + spread * (t - phi @ belief.mean) / total
    return Posterior(mean, belief.covariance - np.outer(spread, spread) / total)


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


class NoiseDensities(NamedTuple):
    """Densities of the noise variance where nearly all of the posterior lies, evenly in its log."""

    v: Floats  # (G,)
    prior: Floats  # (G,)
    posterior: Floats  # (G,) by the conjugate update
    product: Floats  # (G,) by prior times likelihood, normalised to area one


def noise_densities(residuals: Floats, prior: InverseGamma, points: int = 2001) -> NoiseDensities:
    """The noise variance before and after t - Phi w (N,), twelve standard deviations around."""
    after = noise_posterior(residuals, prior)
    middle, sd = np.log(after.beta / after.alpha), 1 / np.sqrt(after.alpha)  # of the log
    u = middle + 12 * sd * np.linspace(-1, 1, points)
    v = np.exp(u)
    log_product = prior.log_density(v) - (len(residuals) * u + residuals @ residuals / v) / 2
    product = np.exp(log_product - log_product.max())
    return NoiseDensities(
        v,
        np.exp(prior.log_density(v)),
        np.exp(after.log_density(v)),
        product / np.trapezoid(product * v, u),
    )


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
