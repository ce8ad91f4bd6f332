r"""Variational Bayes for mixtures of products of Bernoulli distributions, R fits at once.

    pi ~ Dir(alpha0),   mu_kd ~ Beta(b0, b0),   x_nd | z_n = k ~ Bernoulli(mu_kd)
    q(z, pi, mu) = prod_n q(z_n) Dir(pi | alpha) prod_kd Beta(mu_kd | a_kd, b_kd)

Ghahramani 11.4: alternate updates of q(z) and q(theta), (62) and (63), increase the bound F, (61).
Each fit has its own data, so that many data sets and starts are one computation.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import betaln, digamma, gammaln, xlogy

from bythebook.models.clustering.mixture import posterior
from bythebook.models.em import EMFit, expectation_maximisation
from bythebook.models.types import Floats


class Prior(NamedTuple):
    """Symmetric: Dir(alpha0) and Beta(b0, b0)."""

    alpha0: float
    b0: float


class VariationalBernoulli(NamedTuple):
    """Factors of R fits with their data."""

    alpha: Floats  # (R, K)
    a: Floats  # (R, K, D) ones counted
    b: Floats  # (R, K, D) zeros counted
    X: Floats  # (R, N, D)


class _Responsibilities(NamedTuple):
    r: Floats  # (R, N, K)


def factors(X: Floats, r: Floats, prior: Prior) -> VariationalBernoulli:
    """The best factors of the parameters for responsibilities (R, N, K), (63)."""
    return VariationalBernoulli(
        prior.alpha0 + r.sum(1), prior.b0 + r.mT @ X, prior.b0 + r.mT @ (1 - X), X
    )


def expected_logs(theta: VariationalBernoulli) -> tuple[Floats, Floats, Floats]:
    """E[ln pi] (R, K), E[ln mu] and E[ln(1 - mu)], each (R, K, D)."""
    log_pi = digamma(theta.alpha) - digamma(theta.alpha.sum(-1, keepdims=True))
    total = digamma(theta.a + theta.b)
    return log_pi, digamma(theta.a) - total, digamma(theta.b) - total


def log_rho(theta: VariationalBernoulli) -> Floats:
    """Unnormalised log responsibilities, (R, N, K): the exponent of (62)."""
    log_pi, log_one, log_zero = expected_logs(theta)
    X = theta.X
    return np.asarray(log_pi[:, None] + X @ log_one.mT + (1 - X) @ log_zero.mT)


def kl_to_prior(theta: VariationalBernoulli, prior: Prior) -> Floats:
    """KL from the factors of the parameters to their priors, (R,)."""
    log_pi, log_one, log_zero = expected_logs(theta)
    K = theta.alpha.shape[1]
    log_c = gammaln(theta.alpha.sum(-1)) - gammaln(theta.alpha).sum(-1)
    kl = log_c - gammaln(K * prior.alpha0) + K * gammaln(prior.alpha0)
    kl = kl + ((theta.alpha - prior.alpha0) * log_pi).sum(-1)
    beta = betaln(prior.b0, prior.b0) - betaln(theta.a, theta.b)
    beta = beta + (theta.a - prior.b0) * log_one + (theta.b - prior.b0) * log_zero
    return np.asarray(kl + beta.sum((-2, -1)))


def free_energy(r: Floats, theta: VariationalBernoulli, prior: Prior) -> Floats:
    """The bound F for any responsibilities and any factors, (R,), (61)."""
    expected = (r * log_rho(theta)).sum((-2, -1))
    return np.asarray(expected - xlogy(r, r).sum((-2, -1)) - kl_to_prior(theta, prior))


def fit(
    X: Floats, r: Floats, prior: Prior, *, tol: float = 1e-10, max_iter: int = 500
) -> EMFit[VariationalBernoulli]:
    """Variational Bayesian EM of data (R, N, D) from responsibilities (R, N, K)."""

    def e_step(theta: VariationalBernoulli) -> tuple[_Responsibilities, Floats]:
        q, log_sum = posterior(log_rho(theta))
        return _Responsibilities(q), log_sum.sum(-1) - kl_to_prior(theta, prior)

    return expectation_maximisation(
        factors(X, r, prior),
        e_step,
        lambda theta, q: factors(theta.X, q.r, prior),
        tol=tol,
        max_iter=max_iter,
    )
