"""Equations of PRML 10.2.3 and exercise 10.20: the predictive density and its limit."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import digamma
from scipy.stats import multivariate_normal, multivariate_t, wishart

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


class _Factors(NamedTuple):
    """Factors of a variational mixture, and new points."""

    alpha: Floats  # (K,)
    beta: Floats  # (K,)
    m: Floats  # (K, D)
    W: Floats  # (K, D, D)
    nu: Floats  # (K,)
    x: Floats  # (N, D)


def _case(rng: Generator, counts: float = 20.0) -> _Factors:
    D, K = int(rng.integers(1, 4)), int(rng.integers(2, 5))
    alpha, beta = rng.uniform(0.1, 1, (2, K)) * counts
    nu = D + rng.uniform(0.1, 1, K) * counts
    root = rng.normal(size=(K, D, D))
    W = (root @ root.mT + np.eye(D)) / nu[:, None, None]
    return _Factors(alpha, beta, rng.normal(size=(K, D)), W, nu, rng.normal(size=(6, D)) * 2)


@equation(
    "10.80 to 10.82, exercise 10.19",
    section="10.2.3",
    latex=r"p(\hat{\mathbf{x}}|\mathbf{X}) = \frac{1}{\hat{\alpha}} \sum_{k=1}^K \alpha_k"
    r" \text{St}(\hat{\mathbf{x}}|\mathbf{m}_k, \mathbf{L}_k, \nu_k + 1 - D), \quad \mathbf{L}_k ="
    r" \frac{(\nu_k + 1 - D)\beta_k}{(1 + \beta_k)} \mathbf{W}_k",
)
def predictive_density(rng: Generator) -> Sides:
    """The predictive density under the factors: a mixture of Student's t distributions.

    Given Lambda the point is Gaussian about m_k with precision beta / (1 + beta) Lambda. That times
    the Wishart density is another Wishart density times the integral over Lambda.
    """
    q = _case(rng)
    D = q.m.shape[1]
    truth, printed = np.zeros((2, len(q.x)))
    for k, alpha in enumerate(q.alpha):
        shrunk, at = q.beta[k] / (1 + q.beta[k]), np.eye(D)
        for n, x in enumerate(q.x):
            off = x - q.m[k]
            wider = np.linalg.inv(np.linalg.inv(q.W[k]) + shrunk * np.outer(off, off))
            given = multivariate_normal(q.m[k], at / shrunk).logpdf(x)
            prior = wishart(q.nu[k], q.W[k]).logpdf(at)
            after = wishart(q.nu[k] + 1, wider).logpdf(at)
            truth[n] += alpha / q.alpha.sum() * np.exp(given + prior - after)
        df = q.nu[k] + 1 - D
        L = df * q.beta[k] / (1 + q.beta[k]) * q.W[k]
        printed += alpha * multivariate_t(q.m[k], np.linalg.inv(L), df).pdf(q.x)
    return Sides(truth=truth, printed=printed / q.alpha.sum())


@equation(
    "10.81, N large",
    section="10.2.3",
    latex=r"N \rightarrow \infty: \quad p(\hat{\mathbf{x}}|\mathbf{X}) \rightarrow"
    r" \frac{1}{\hat{\alpha}} \sum_{k=1}^K \alpha_k \mathcal{N}(\hat{\mathbf{x}}|\mathbf{m}_k,"
    r" (\nu_k \mathbf{W}_k)^{-1})",
    within=1e-5,
)
def predictive_limit(rng: Generator) -> Sides:
    """The predictive density of factors with a hundred million points is a mixture of Gaussians."""
    q = _case(rng, counts=1e8)
    D = q.m.shape[1]
    truth, printed = np.zeros((2, len(q.x)))
    for k, alpha in enumerate(q.alpha):
        df = q.nu[k] + 1 - D
        L = df * q.beta[k] / (1 + q.beta[k]) * q.W[k]
        truth += alpha * multivariate_t(q.m[k], np.linalg.inv(L), df).pdf(q.x)
        covariance = np.linalg.inv(q.nu[k] * q.W[k])
        printed += alpha * multivariate_normal(q.m[k], covariance).pdf(q.x)
    return Sides(truth=truth / q.alpha.sum(), printed=printed / q.alpha.sum())


@equation(
    "exercise 10.20",
    section="10.2.1",
    latex=r"\psi(x) = \ln x + O(1/x)",
)
def digamma_limit(rng: Generator) -> Sides:
    """The digamma function of large numbers is their logarithm, up to half the reciprocal."""
    x = 10 ** rng.uniform(8, 14)
    return Sides(truth=digamma(x), printed=np.log(x))
