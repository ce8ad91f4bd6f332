r"""Mixtures of Poisson distributions by EM, R restarts at once (FCML exercise 6.6).

    p(x) = sum_k pi_k lambda_k^x exp(-lambda_k) / x!              counts x = 0, 1, 2, ...

    E step    q_nk = pi_k p(x_n | lambda_k) / sum_j pi_j p(x_n | lambda_j)    as (6.18)
    M step    lambda_k = sum_n q_nk x_n / sum_n q_nk,  pi_k = sum_n q_nk / N  as (6.16), (6.15)

The maximum of the bound over lambda_k solves sum_n q_nk (x_n / lambda_k - 1) = 0.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

from bythebook.models.clustering.mixture import log_proportions, mixing_proportions, posterior
from bythebook.models.em import EMFit, expectation_maximisation
from bythebook.models.types import Floats


class PoissonMixture(NamedTuple):
    """Parameters of R mixtures of K Poisson distributions."""

    pi: Floats  # (R, K) p(z = k)
    rate: Floats  # (R, K) lambda_k = E[x | z = k]


class Statistics(NamedTuple):
    """Sums over the data, q = p(z_n = k | x_n, theta)."""

    N: Floats  # (R, K) sum_n q_nk
    total: Floats  # (R, K) sum_n q_nk x_n


def log_joint(x: Floats, theta: PoissonMixture) -> Floats:
    """Log joint ln p(x_n, z_n = k | theta), shape (R, N, K), for counts (N,)."""
    count = x[:, None]
    rate = theta.rate[:, None]
    log_p = xlogy(count, rate) - rate - gammaln(count + 1)
    return np.asarray(log_p + log_proportions(theta.pi)[:, None])


def e_step(
    x: Floats, theta: PoissonMixture, times: Floats | None = None
) -> tuple[Statistics, Floats]:
    """The posterior's statistics and the log likelihood, shape (R,); x_n is there `times` (N,)."""
    times = np.ones(len(x)) if times is None else times
    q, log_evidence = posterior(log_joint(x, theta))  # as (6.18)
    return Statistics(times @ q, (times * x) @ q), log_evidence @ times


def m_step(theta: PoissonMixture, q: Statistics) -> PoissonMixture:
    """Rates and proportions; a component without points keeps its rate."""
    rate = np.where(q.N > 0, q.total / np.where(q.N > 0, q.N, 1.0), theta.rate)
    return PoissonMixture(mixing_proportions(q.N), rate)


def fit(
    x: Floats, start: PoissonMixture, *, tol: float = 1e-8, max_iter: int = 1000
) -> EMFit[PoissonMixture]:
    """EM from R starts; the objective is the log likelihood."""
    # Equal counts have equal posteriors: one for each value is enough.
    values, counts = np.unique(np.asarray(x, dtype=float), return_counts=True)
    times = counts.astype(np.float64)
    return expectation_maximisation(
        start, lambda theta: e_step(values, theta, times), m_step, tol=tol, max_iter=max_iter
    )


def start_at_counts(x: Floats, K: int, rng: np.random.Generator, restarts: int) -> PoissonMixture:
    """Equal proportions; rates are K counts of the data at random, plus one half."""
    return PoissonMixture(
        np.full((restarts, K), 1 / K), rng.choice(x, size=(restarts, K)).astype(float) + 0.5
    )


def sample(pi: Floats, rate: Floats, N: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """N counts and the components they come from, for one mixture (K,), (K,)."""
    z = rng.choice(len(pi), size=N, p=pi)
    return rng.poisson(rate[z]).astype(float), z.astype(float)
