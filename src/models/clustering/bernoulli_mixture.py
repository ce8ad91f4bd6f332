r"""Mixtures of products of Bernoullis by EM: maximum likelihood and MAP, R restarts at once.

    p(x | mu_k) = prod_i mu_ki^x_i (1 - mu_ki)^(1 - x_i)            x_i in {0, 1}, (9.48)
    p(x)        = sum_k pi_k p(x | mu_k)                            (9.47)

PRML 9.3.3, whose equation numbers are used; FCML 6.3.7 and, for the MAP estimate, 6.3.8. The
likelihood is at most one: unlike a Gaussian mixture it has no singularities to run into.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, gammaln, xlog1py, xlogy

from bythebook.models.clustering.mixture import (
    log_proportions,
    mixing_proportions,
    posterior,
    row_blocks,
)
from bythebook.models.em import EMFit, expectation_maximisation
from bythebook.models.types import Floats, Ints


class BernoulliMixture(NamedTuple):
    """Parameters of R mixtures of K components over D binary variables."""

    pi: Floats  # (R, K) p(z = k)
    mu: Floats  # (R, K, D) p(x_i = 1 | z = k)


class Prior(NamedTuple):
    """Beta(mu_ki | a, b) for every k and i, times Dirichlet(pi | alpha, ..., alpha)."""

    a: float  # all three at least 1, or the posterior has no mode inside; 1 is flat
    b: float
    alpha: float = 1.0


class Statistics(NamedTuple):
    """Sums over the data, gamma = p(z_n = k | x_n, theta)."""

    N: Floats  # (R, K) sum_n gamma_nk
    ones: Floats  # (R, K, D) sum_n gamma_nk x_n
    zeros: Floats  # (R, K, D) sum_n gamma_nk (1 - x_n)


def _component_log_joint(X: Floats, theta: BernoulliMixture) -> Floats:
    """Log joint ln pi_k + ln p(x_n | mu_k), shape (R, K, n)."""
    R, K, D = theta.mu.shape
    mu = theta.mu.reshape(R * K, D)
    ones, zeros = X.T, 1.0 - X.T
    # ln 0 times a zero of the data would be 0 * -inf; impossible values are marked separately.
    never, always = mu == 0, mu == 1
    log_p = np.log(np.where(never, 1.0, mu)) @ ones + np.log1p(-np.where(always, 0.0, mu)) @ zeros
    if never.any() or always.any():
        log_p[never.astype(float) @ ones + always.astype(float) @ zeros > 0] = -np.inf
    return np.asarray(log_p.reshape(R, K, -1) + log_proportions(theta.pi)[..., None])


def log_joint(X: Floats, theta: BernoulliMixture) -> Floats:
    """Log joint ln p(x_n, z_n = k | theta), shape (R, N, K), for binary data (N, D)."""
    X = np.asarray(X, dtype=float)
    return _component_log_joint(X, theta).swapaxes(1, 2)


def responsibilities(X: Floats, theta: BernoulliMixture) -> Floats:
    """p(z_n = k | x_n, theta), shape (R, N, K)."""
    return posterior(log_joint(X, theta))[0]  # (9.56)


def log_density(X: Floats, theta: BernoulliMixture) -> Floats:
    """Log density ln p(x_n | theta), shape (R, N); summed over n it is (9.51)."""
    return posterior(log_joint(X, theta))[1]


def log_prior(theta: BernoulliMixture, prior: Prior) -> Floats:
    """Log prior ln p(pi, mu), normalised, shape (R,)."""
    a, b, alpha = prior
    K = theta.pi.shape[1]
    beta = xlogy(a - 1, theta.mu) + xlog1py(b - 1, -theta.mu) - betaln(a, b)
    dirichlet = gammaln(K * alpha) - K * gammaln(alpha) + xlogy(alpha - 1, theta.pi).sum(1)
    return np.asarray(beta.sum((1, 2)) + dirichlet)


def e_step(X: Floats, theta: BernoulliMixture) -> tuple[Statistics, Floats]:
    """The posterior's statistics and the log likelihood, shape (R,), in blocks of rows."""
    R, K, D = theta.mu.shape
    N, log_likelihood = np.zeros((R, K)), np.zeros(R)
    ones, zeros = np.zeros((R, K, D)), np.zeros((R, K, D))
    for rows in row_blocks(len(X), max(R * K, D)):
        gamma, log_evidence = posterior(_component_log_joint(X[rows], theta), axis=1)  # (9.56)
        log_likelihood += log_evidence.sum(1)  # (9.51)
        N += gamma.sum(2)  # (9.57)
        weights = gamma.reshape(R * K, -1)
        ones += (weights @ X[rows]).reshape(R, K, D)
        zeros += (weights @ (1.0 - X[rows])).reshape(R, K, D)
    return Statistics(N, ones, zeros), log_likelihood


def m_step(theta: BernoulliMixture, q: Statistics, prior: Prior | None = None) -> BernoulliMixture:
    """Means and proportions; a component without points keeps its mean, if no prior fills it."""
    a, b, alpha = prior or Prior(1.0, 1.0)
    ones, zeros = q.ones + (a - 1), q.zeros + (b - 1)
    # Over ones + zeros, which is N_k up to rounding: a column of ones gives exactly 1.
    with np.errstate(invalid="ignore"):
        mu = ones / (ones + zeros)  # (9.59); FCML (6.23) with a prior
    mu = np.where(ones + zeros > 0, mu, theta.mu)
    return BernoulliMixture(mixing_proportions(q.N, alpha), mu)  # (9.60)


def fit(
    X: Floats,
    start: BernoulliMixture,
    *,
    prior: Prior | None = None,
    tol: float = 1e-8,
    max_iter: int = 500,
    snapshots: Collection[int] = (),
) -> EMFit[BernoulliMixture]:
    """EM from R starts; the objective is the log likelihood, with a prior the log posterior."""
    if prior is not None and min(prior) < 1:
        raise ValueError("a beta or Dirichlet prior with a parameter below 1 has no mode inside")
    X = np.asarray(X, dtype=float)

    def expect(theta: BernoulliMixture) -> tuple[Statistics, Floats]:
        q, objective = e_step(X, theta)
        return q, objective if prior is None else objective + log_prior(theta, prior)

    return expectation_maximisation(
        start,
        expect,
        lambda theta, q: m_step(theta, q, prior),
        tol=tol,
        max_iter=max_iter,
        snapshots=snapshots,
    )


def start_at_random(
    D: int,
    K: int,
    rng: np.random.Generator,
    restarts: int = 1,
    *,
    low: float = 0.25,
    high: float = 0.75,
) -> BernoulliMixture:
    """Equal proportions and means uniform between `low` and `high`."""
    mu = rng.uniform(low, high, size=(restarts, K, D))
    return BernoulliMixture(np.full((restarts, K), 1 / K), mu)


def sample_clusters(
    N: int, D: int, K: int, rng: np.random.Generator, *, low: float = 0.0, high: float = 1.0
) -> tuple[Floats, Ints]:
    """Binary data (N, D) and their clusters (N,), equally probable, means uniform as a start's."""
    mu = rng.uniform(low, high, (K, D))
    z = rng.integers(K, size=N)
    return (rng.random((N, D)) < mu[z]).astype(float), z


def constant_variables(X: Floats, labels: Ints, K: int, least: int = 5) -> Ints:
    """Number of variables that are constant within each cluster, (K,); 0 for a small cluster."""
    clusters = [X[labels == k] for k in range(K)]
    return np.array(
        [int((own == own[0]).all(axis=0).sum()) if len(own) >= least else 0 for own in clusters]
    )
