"""Equations of FCML 7.7.1, probit PCA by variational Bayes."""

import numpy as np
from numpy.random import Generator
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm, truncnorm

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "7.17",
    section="7.7.1",
    latex=r"P(y_{nm} = 1|\mathbf{w}_m, \mathbf{x}_n) = \int_0^\infty \mathcal{N}(q|\mathbf{w}_m^T"
    r" \mathbf{x}_n, 1) \, dq = \phi(\mathbf{w}_m^T \mathbf{x}_n)",
)
def probit_by_an_auxiliary(rng: Generator) -> Sides:
    """The probit likelihood is the probability that the auxiliary variable is positive."""
    w, x = rng.normal(size=(2, 3))
    q = abs(w @ x) + 12
    truth = quad(norm(w @ x, 1).pdf, 0, q, points=[max(w @ x, 0.1)], epsabs=1e-14)[0]
    return Sides(truth=truth, printed=norm.cdf(w @ x))


@equation(
    "comment 7.3, for the auxiliary variables",
    section="7.7.1",
    latex=r"y = 1: \; \langle q \rangle = \mu + \frac{\mathcal{N}_\mu(0, 1)}{1 - \phi(-\mu)}, \quad"
    r" y = -1: \; \langle q \rangle = \mu - \frac{\mathcal{N}_\mu(0, 1)}{\phi(-\mu)}",
)
def expected_auxiliary(rng: Generator) -> Sides:
    """The mean of a Gaussian that is cut at the origin, above or below."""
    mu = rng.normal(0, 1.5)
    truth = truncnorm(-mu, np.inf, loc=mu).mean(), truncnorm(-np.inf, -mu, loc=mu).mean()
    above = mu + norm.pdf(mu) / (1 - norm.cdf(-mu))
    return Sides(truth=truth, printed=(above, mu - norm.pdf(mu) / norm.cdf(-mu)))


@equation(
    "section 7.7.1, x and w",
    section="7.7.1",
    latex=r"\mathbf{\Sigma}_{\mathbf{w}_m} = \left[ \mathbf{I}_D + \sum_n z_{nm} \langle"
    r" \mathbf{x}_n \mathbf{x}_n^T \rangle \right]^{-1}, \quad \mathbf{\mu}_{\mathbf{w}_m}"
    r" = \mathbf{\Sigma}_{\mathbf{w}_m} \sum_n z_{nm} \langle q_{nm} \rangle \langle \mathbf{x}_n"
    r" \rangle",
)
def boundary_of_a_division(rng: Generator) -> Sides:
    """The factor of the weights of a division, or by exchange that of a position.

    The expected log joint along the weights; positions take two values with equal probability.
    """
    D, N = int(rng.integers(1, 4)), int(rng.integers(2, 7))
    z, q = (rng.random(N) < 0.7).astype(float), rng.normal(0, 1.5, N)
    x = rng.normal(size=(2, N, D))
    w = rng.normal(0, 1.5, (5, D))
    errors = (z * (q - np.einsum("kd,snd->skn", w, x)) ** 2).sum(-1)  # up to the variance of q
    truth = norm.logpdf(w).sum(1) - errors.mean(0) / 2
    Sigma = np.linalg.inv(np.eye(D) + np.einsum("n,sni,snj->ij", z, x, x) / 2)
    mu = Sigma @ ((z * q) @ x.mean(0))
    printed = multivariate_normal(mu, Sigma).logpdf(w)
    return Sides(truth=truth[1:] - truth[0], printed=printed[1:] - printed[0])
