r"""Gaussian mixtures by EM: maximum likelihood and MAP, R restarts in one computation.

    p(x) = sum_k pi_k N(x | mu_k, Sigma_k)                                  (9.7)

PRML 9.2, 9.3.1 and 9.3.2; FCML 6.3; Notes 3.3.2; Ghahramani 2.4, 2.5 and 3. Equation numbers are
PRML's. Its (9.16) prints Sigma_k for the inverse, (9.15) and (9.41) hold for one dimension only.

Sigma_k is kept as a full matrix; `covariance` says which matrices the M step may choose from:

    full         any
    diagonal     diag(s_k1, ..., s_kD)
    spherical    s_k I
    fixed        those of the start: EM with epsilon I, which tends to K-means (9.3.2)

With a `Prior` the objective is ln p(X | theta) + ln p(theta), which no component can drive to
infinity by collapsing onto a data point (9.2.1): Sigma_k is at least S0 / (N + nu0 + D + 1).
"""

from collections.abc import Collection
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import gammaln, multigammaln, xlogy

from bythebook.models.clustering.mixture import (
    blocks,
    log_proportions,
    mixing_proportions,
    posterior,
)
from bythebook.models.em import EMFit, expectation_maximisation
from bythebook.models.types import Bools, Floats, Ints

Covariance = Literal["full", "diagonal", "spherical", "fixed"]
_TINY = np.finfo(float).tiny


class GaussianMixture(NamedTuple):
    """Parameters of R mixtures of K Gaussians in D dimensions."""

    pi: Floats  # (R, K) p(z = k)
    mu: Floats  # (R, K, D) E[x | z = k]
    Sigma: Floats  # (R, K, D, D) cov[x | z = k]


class Prior(NamedTuple):
    """Dirichlet(pi | alpha, ..., alpha) times inverse Wishart(Sigma_k | S0, nu0), mu_k flat."""

    alpha: float  # 1 is flat; the mode needs alpha >= 1
    S0: Floats  # (D, D) scale
    nu0: float  # degrees of freedom, > D - 1


class Statistics(NamedTuple):
    """Sums over the data, gamma = p(z_n = k | x_n, theta), about the means mu_k of that theta.

    Moments about the current means, not the origin: nothing cancels when a component is small.
    """

    N: Floats  # (R, K) sum_n gamma_nk
    first: Floats  # (R, K, D) sum_n gamma_nk (x_n - mu_k)
    second: Floats  # (R, K, D, D) sum_n gamma_nk (x_n - mu_k)(x_n - mu_k)^T


def smallest_eigenvalue(Sigma: Floats) -> Floats:
    """The smallest eigenvalue of each covariance, shape (R, K); NaN where it is not finite."""
    finite = np.asarray(np.isfinite(Sigma).all((-2, -1)))
    values = np.linalg.eigvalsh(np.where(finite[..., None, None], Sigma, 0.0))[..., 0]
    return np.where(finite, values, np.nan)


def collapsed(theta: GaussianMixture, min_eigenvalue: float) -> Bools:
    """Whether components have shrunk below `min_eigenvalue` in some direction, shape (R, K)."""
    return ~(smallest_eigenvalue(theta.Sigma) >= min_eigenvalue)


def whitener(Sigma: Floats) -> Floats:
    """L^-1 with Sigma = L L^T, lower triangular; NaN where Sigma is not positive definite.

    NaN makes the objective of that restart NaN, which stops it and spares the rest of the batch.
    """
    try:
        L = np.linalg.cholesky(Sigma)
    except np.linalg.LinAlgError:
        L = np.full_like(Sigma, np.nan)
        for index in np.ndindex(Sigma.shape[:-2]):
            try:
                L[index] = np.linalg.cholesky(Sigma[index])
            except np.linalg.LinAlgError:
                continue
    W = np.zeros_like(L)
    for i, row in enumerate(np.eye(Sigma.shape[-1])):  # forward substitution, for the whole batch
        known = L[..., i : i + 1, :i] @ W[..., :i, :]
        W[..., i, :] = (row - known[..., 0, :]) / L[..., i, i, None]
    return W


def component_log_joint(difference: Floats, pi: Floats, W: Floats) -> Floats:
    """Log joint ln pi_k + ln N(x_n | mu_k, Sigma_k), (R, K, n), from x_n - mu_k, (R, K, D, n)."""
    return weighed(difference, W, log_weights(pi, W))


def log_weights(pi: Floats, W: Floats) -> Floats:
    """Log of pi_k times the height of its Gaussian, (R, K), for whiteners W."""
    D = W.shape[-1]
    log_volume = np.log(np.diagonal(W, axis1=-2, axis2=-1)).sum(-1) - 0.5 * D * np.log(2 * np.pi)
    return np.asarray(log_proportions(pi) + log_volume)


def weighed(difference: Floats, W: Floats, log_weight: Floats) -> Floats:
    """Log weights (R, K) less half the squared length of W (x_n - mu_k), shape (R, K, n)."""
    y = W @ difference
    log_p: Floats = np.einsum("rkdn,rkdn->rkn", y, y)  # squared Mahalanobis distance
    log_p *= -0.5  # in place: new memory costs more here than arithmetic
    log_p += log_weight[..., None]
    return log_p


def log_joint(X: Floats, theta: GaussianMixture) -> Floats:
    """Log joint ln p(x_n, z_n = k | theta), shape (R, N, K), for data (N, D)."""
    out = np.empty((len(theta.pi), len(X), theta.pi.shape[1]))
    W = whitener(theta.Sigma)
    for some, rows in blocks(len(out), len(X), theta.mu[0].size):
        difference = np.ascontiguousarray(X[rows].T) - theta.mu[some, ..., None]
        out[some, rows] = component_log_joint(difference, theta.pi[some], W[some]).swapaxes(1, 2)
    return out


def responsibilities(X: Floats, theta: GaussianMixture) -> Floats:
    """p(z_n = k | x_n, theta), shape (R, N, K)."""
    return posterior(log_joint(X, theta))[0]  # (9.23)


def log_density(X: Floats, theta: GaussianMixture) -> Floats:
    """Log density ln p(x_n | theta), shape (R, N); summed over n it is (9.28)."""
    return posterior(log_joint(X, theta))[1]


def log_prior(theta: GaussianMixture, prior: Prior) -> Floats:
    """Log prior ln p(pi, Sigma), normalised, shape (R,)."""
    alpha, S0, nu0 = prior
    K, D = theta.mu.shape[1:]
    dirichlet = gammaln(K * alpha) - K * gammaln(alpha) + xlogy(alpha - 1, theta.pi).sum(1)
    W, C = whitener(theta.Sigma), np.linalg.cholesky(S0)
    half_log_S0 = np.log(np.diagonal(C)).sum()
    normaliser = nu0 * half_log_S0 - 0.5 * nu0 * D * np.log(2) - multigammaln(0.5 * nu0, D)
    half_log_precision = np.log(np.diagonal(W, axis1=-2, axis2=-1)).sum(-1)
    trace = ((W @ C) ** 2).sum((-2, -1))  # tr(S0 Sigma^-1)
    wishart = normaliser + (nu0 + D + 1) * half_log_precision - 0.5 * trace
    return np.asarray(dirichlet + wishart.sum(1))


def e_step(X: Floats, theta: GaussianMixture) -> tuple[Statistics, Floats]:
    """The posterior's statistics and the log likelihood, shape (R,), block by block."""
    W = whitener(theta.Sigma)
    return statistics(X, theta.mu, W, log_weights(theta.pi, W))


def statistics(X: Floats, mu: Floats, W: Floats, log_weight: Floats) -> tuple[Statistics, Floats]:
    """Statistics about mu (R, K, D) for any whiteners and log weights (R, K), and sum_n ln p."""
    R, K, D = mu.shape
    N, first, second = np.zeros((R, K)), np.zeros((R, K, D)), np.zeros((R, K, D, D))
    log_likelihood = np.zeros(R)
    for some, rows in blocks(R, len(X), K * D):
        difference = np.ascontiguousarray(X[rows].T) - mu[some, ..., None]  # (r, K, D, n)
        log_p = weighed(difference, W[some], log_weight[some])
        gamma, log_evidence = posterior(log_p, axis=1)  # (9.23)
        log_likelihood[some] += log_evidence.sum(1)  # (9.28)
        weighted = gamma[:, :, None] * difference
        N[some] += gamma.sum(2)  # (9.27)
        first[some] += weighted.sum(3)
        second[some] += weighted @ difference.swapaxes(2, 3)
    return Statistics(N, first, second), log_likelihood


def constrain(Sigma: Floats, covariance: Covariance) -> Floats:
    """The most likely matrix of the kind `covariance` for a scatter proportional to Sigma."""
    D = Sigma.shape[-1]
    if covariance in ("full", "fixed"):
        return Sigma
    variances = np.diagonal(Sigma, axis1=-2, axis2=-1)
    if covariance == "spherical":
        variances = np.broadcast_to(variances.mean(-1, keepdims=True), variances.shape)
    elif covariance != "diagonal":
        raise ValueError(f"no such kind of covariance: {covariance}")
    return np.asarray(variances[..., None] * np.eye(D))


def m_step(
    theta: GaussianMixture,
    q: Statistics,
    *,
    covariance: Covariance = "full",
    fixed_pi: bool = False,
    prior: Prior | None = None,
) -> GaussianMixture:
    """Means, covariances and proportions from the statistics about the means of `theta`.

    A component that has lost every point (N_k = 0) keeps its mean and, without a prior, its
    covariance.
    """
    N = np.maximum(q.N, _TINY)
    shift = q.first / N[..., None]
    mu = theta.mu + shift  # (9.24)
    scatter = q.second - q.first[..., :, None] * shift[..., None, :]
    N = N[..., None, None]
    if covariance == "fixed":
        Sigma = theta.Sigma
    elif prior is None:
        Sigma = np.where(N > _TINY, constrain(scatter / N, covariance), theta.Sigma)  # (9.25)
    else:
        Sigma = constrain((prior.S0 + scatter) / (N + prior.nu0 + mu.shape[-1] + 1), covariance)
    alpha = 1.0 if prior is None else prior.alpha
    pi = theta.pi if fixed_pi else mixing_proportions(q.N, alpha)  # (9.26)
    return GaussianMixture(pi, mu, Sigma)


def fit(
    X: Floats,
    start: GaussianMixture,
    *,
    covariance: Covariance = "full",
    fixed_pi: bool = False,
    prior: Prior | None = None,
    min_eigenvalue: float = 0.0,
    tol: float = 1e-8,
    max_iter: int = 500,
    snapshots: Collection[int] = (),
) -> EMFit[GaussianMixture]:
    """EM from R starts; the objective is the log likelihood, with a prior the log posterior.

    A restart stops, not converged and with objective NaN, at the first theta with a covariance
    that is singular or has an eigenvalue below `min_eigenvalue`.
    """

    def expect(theta: GaussianMixture) -> tuple[Statistics, Floats]:
        q, objective = e_step(X, theta)
        if prior is not None:
            objective = objective + log_prior(theta, prior)
        if min_eigenvalue > 0:
            objective = np.where(collapsed(theta, min_eigenvalue).any(1), np.nan, objective)
        return q, objective

    if prior is not None and prior.alpha < 1:
        raise ValueError("a Dirichlet prior with alpha < 1 has no mode inside the simplex")
    # A start outside the chosen kind could have a higher objective than any M step can reach.
    start = start._replace(Sigma=constrain(start.Sigma, covariance))
    maximise = partial(m_step, covariance=covariance, fixed_pi=fixed_pi, prior=prior)
    return expectation_maximisation(
        start, expect, maximise, tol=tol, max_iter=max_iter, snapshots=snapshots
    )


def iterations_to_settle(X: Floats, em: EMFit[GaussianMixture], share: float) -> Ints:
    """The first snapshot from which on `share` of the points keep their final labels, (R,)."""
    ends = responsibilities(X, em.theta).argmax(2)
    labels = (responsibilities(X, em.snapshots[t]).argmax(2) for t in sorted(em.snapshots))
    away = np.stack([np.mean(label == ends, axis=1) < share for label in labels])
    last = len(away) - np.argmax(away[::-1], axis=0)  # after the last one that differs
    return np.where(away.any(axis=0), last, 0)
