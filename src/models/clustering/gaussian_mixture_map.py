r"""Diagonal Gaussian mixtures with a Gaussian prior on the means, by EM (FCML exercise 6.5).

    p(x | k) = prod_d N(x_d | mu_kd, sigma2_kd),     p(mu_kd) = N(m, s2)

The terms of the bound with mu_kd are quadratic. Their maximum, for the variances of the step
before, weights the prior by its precision and the data by theirs:

    mu_kd = (m / s2 + sum_n q_nk x_nd / sigma2_kd) / (1 / s2 + sum_n q_nk / sigma2_kd)

then sigma2_kd is the weighted scatter about the new mean. Each raises the log posterior.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from bythebook.models.clustering.gaussian_mixture import (
    GaussianMixture,
    Statistics,
    constrain,
    e_step,
)
from bythebook.models.clustering.mixture import mixing_proportions
from bythebook.models.em import EMFit, expectation_maximisation
from bythebook.models.types import Floats


class MeanPrior(NamedTuple):
    """N(mu_kd | m, s2) for every component and dimension."""

    m: float
    s2: float


def log_prior(theta: GaussianMixture, prior: MeanPrior) -> Floats:
    """Log prior of the means, normalised, shape (R,)."""
    m, s2 = prior
    K, D = theta.mu.shape[1:]
    squares = ((theta.mu - m) ** 2).sum((1, 2)) / s2
    return np.asarray(-(squares + K * D * np.log(2 * np.pi * s2)) / 2)


def m_step(theta: GaussianMixture, q: Statistics, prior: MeanPrior) -> GaussianMixture:
    """Means given the old variances, then variances given the new means; a step of ECM."""
    m, s2 = prior
    N = q.N[..., None]
    variances = np.diagonal(theta.Sigma, axis1=-2, axis2=-1)
    total = q.first + N * theta.mu  # sum_n q_nk x_n
    mu = (m / s2 + total / variances) / (1 / s2 + N / variances)
    shift = mu - theta.mu
    scatter = np.diagonal(q.second, axis1=-2, axis2=-1) - 2 * shift * q.first + N * shift**2
    Sigma = (scatter / N)[..., None] * np.eye(mu.shape[-1])
    return GaussianMixture(mixing_proportions(q.N), mu, Sigma)


def fit(
    X: Floats,
    start: GaussianMixture,
    prior: MeanPrior,
    *,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> EMFit[GaussianMixture]:
    """EM from R starts; the objective is the log likelihood plus the log prior of the means."""

    def expect(theta: GaussianMixture) -> tuple[Statistics, Floats]:
        q, log_likelihood = e_step(X, theta)
        return q, log_likelihood + log_prior(theta, prior)

    start = start._replace(Sigma=constrain(start.Sigma, "diagonal"))
    return expectation_maximisation(
        start, expect, partial(m_step, prior=prior), tol=tol, max_iter=max_iter
    )
