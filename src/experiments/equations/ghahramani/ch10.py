"""Equations of Ghahramani 10: the marginal likelihood."""

import numpy as np
from numpy.random import Generator
from scipy.stats import multivariate_normal, norm

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "50",
    section="10",
    latex=r"P(D|m_i) = \int P(D|\theta_i, m_i) P(\theta|m_i) d\theta_i",
)
def marginal_likelihood(rng: Generator) -> Sides:
    """The marginal likelihood of a linear model with one weight, integrated over the prior.

    The other route is the Gaussian density of the targets with the weight eliminated.
    """
    N = int(rng.integers(2, 8))
    phi, t = rng.normal(size=N), rng.normal(0.5, 1.5, N)
    mean, sd, noise = rng.normal(), rng.uniform(0.4, 2), rng.uniform(0.3, 1.5)
    theta = mean + sd * np.linspace(-12, 12, 20_001)
    likelihood = np.exp(norm(theta[:, None] * phi, noise).logpdf(t).sum(axis=-1))
    printed = np.sum(likelihood * norm(mean, sd).pdf(theta)) * (theta[1] - theta[0])
    covariance = noise**2 * np.eye(N) + sd**2 * np.outer(phi, phi)
    return Sides(truth=multivariate_normal(mean * phi, covariance).pdf(t), printed=printed)
