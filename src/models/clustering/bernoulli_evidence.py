r"""The evidence of small Bernoulli mixtures: by enumeration, BIC, and annealed importance sampling.

    p(X, z) = Gamma(K alpha0) / Gamma(K alpha0 + N) prod_k Gamma(alpha0 + N_k) / Gamma(alpha0)
              prod_kd B(b0 + ones_kd, b0 + zeros_kd) / B(b0, b0)

with the parameters integrated out (Ghahramani 10 and 11); p(X) is the sum over all K^N assignments.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import betaln, gammaln

from bythebook.models.approximation.variational_bernoulli import Prior
from bythebook.models.clustering.mixture import posterior
from bythebook.models.em import expectation_maximisation
from bythebook.models.types import Floats, Ints


class Counts(NamedTuple):
    """Sufficient statistics of S assignments."""

    z: Ints  # (S, N)
    N: Ints  # (S, K) points of each component
    ones: Ints  # (S, K, D)


def all_assignments(X: Floats, K: int) -> Counts:
    """Every assignment of N points (N, D) to K components: S = K^N."""
    N = len(X)
    z = np.arange(K**N)[:, None] // K ** np.arange(N) % K
    each = [(z == k).astype(np.float64) for k in range(K)]
    ones = np.stack([member @ X for member in each], axis=1)
    return Counts(z, np.stack([m.sum(1) for m in each], 1).astype(int), ones.astype(int))


class _Tables(NamedTuple):
    """Special functions of whole counts up to N: there are few, and assignments are many."""

    of_count: Floats  # (N + 1,) ln Gamma(alpha0 + n)
    of_pair: Floats  # ((N + 1)^2,) ln B(b0 + ones, b0 + zeros), ones in rows


def _tables(N: int, prior: Prior) -> _Tables:
    n = np.arange(N + 1)
    pair = betaln(prior.b0 + n[:, None], prior.b0 + n)
    return _Tables(gammaln(prior.alpha0 + n), pair.ravel())


def _pairs(counts: Counts, table: Floats) -> Floats:
    """Entries of a pair's table for each assignment, summed over components and variables."""
    N = counts.z.shape[1]
    place = counts.ones * N + counts.N[..., None]  # ones (N + 1) + zeros
    return np.asarray(table[place].sum((1, 2)))


def log_joint(counts: Counts, prior: Prior) -> Floats:
    """Log of p(X, z) for each assignment, (S,)."""
    N, K = counts.z.shape[1], counts.N.shape[1]
    tables = _tables(N, prior)
    labels = (tables.of_count - gammaln(prior.alpha0))[counts.N].sum(1)
    labels = labels + gammaln(K * prior.alpha0) - gammaln(K * prior.alpha0 + N)
    return np.asarray(labels + _pairs(counts, tables.of_pair - betaln(prior.b0, prior.b0)))


class _Likeliest(NamedTuple):
    pi: Floats  # (R, K)
    mu: Floats  # (R, K, D)
    X: Floats  # (R, N, D)


class _Posterior(NamedTuple):
    r: Floats  # (R, N, K)


def max_log_likelihood(X: Floats, r: Floats, *, max_iter: int = 500) -> Floats:
    """Log likelihood (R,) at the end of EM, data (R, N, D), from responsibilities (R, N, K)."""

    def likeliest(data: Floats, q: Floats) -> _Likeliest:
        N = np.maximum(q.sum(1), 1e-300)
        return _Likeliest(q.mean(1), np.clip((q.mT @ data) / N[..., None], 0, 1), data)

    def m_step(theta: _Likeliest, q: _Posterior) -> _Likeliest:
        return likeliest(theta.X, q.r)

    def e_step(theta: _Likeliest) -> tuple[_Posterior, Floats]:
        one, zero = np.maximum(theta.mu, 1e-300), np.maximum(1 - theta.mu, 1e-300)
        log_p = np.log(np.maximum(theta.pi, 1e-300))[:, None]
        log_p = log_p + theta.X @ np.log(one).mT + (1 - theta.X) @ np.log(zero).mT
        q, log_sum = posterior(log_p)
        return _Posterior(q), log_sum.sum(-1)

    found = expectation_maximisation(likeliest(X, r), e_step, m_step, tol=1e-8, max_iter=max_iter)
    return found.final


def bic(log_likelihood: Floats, K: int, N: int, D: int) -> Floats:
    """The log evidence by the Bayesian information criterion: K D + K - 1 parameters."""
    return np.asarray(log_likelihood - 0.5 * (K * D + K - 1) * np.log(N))


def annealed(X: Floats, K: int, prior: Prior, temperatures: int, rng: Generator) -> Floats:
    """Annealed importance sampling of ln p(X), one run for each of C data sets (C, N, D).

    The path from p(z) to p(X, z) is p(z) p(X | z)^t, t in equal steps, with a sweep of Gibbs
    sampling after each: the parameters are integrated out, and labels are drawn one by one.
    """
    C, N, D = X.shape
    every = np.arange(C)
    counts, ones = np.zeros((C, K)), np.zeros((C, K, D))
    z = np.empty((C, N), dtype=np.int64)
    for n in range(N):  # the prior of labels, one after another
        z[:, n] = _choose(np.log(prior.alpha0 + counts), rng)
        counts[every, z[:, n]] += 1
        ones[every, z[:, n]] += X[:, n]
    log_weight, steps = np.zeros(C), np.linspace(0, 1, temperatures)
    for before, t in pairwise(steps):
        zeros = counts[..., None] - ones
        likelihood = betaln(prior.b0 + ones, prior.b0 + zeros) - betaln(prior.b0, prior.b0)
        log_weight += (t - before) * likelihood.sum((1, 2))
        if t == 1:
            break
        for n in range(N):
            x = X[:, n]
            counts[every, z[:, n]] -= 1
            ones[every, z[:, n]] -= x
            p = (prior.b0 + ones) / (2 * prior.b0 + counts)[..., None]
            fitting = np.log(np.where(x[:, None] == 1, p, 1 - p)).sum(-1)
            z[:, n] = _choose(np.log(prior.alpha0 + counts) + t * fitting, rng)
            counts[every, z[:, n]] += 1
            ones[every, z[:, n]] += x
    return log_weight


def _choose(logits: Floats, rng: Generator) -> Ints:
    """One label for each row (C, K), by Gumbel's trick."""
    return np.asarray((logits + rng.gumbel(size=logits.shape)).argmax(-1))
