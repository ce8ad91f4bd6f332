"""Random mixtures with data, and their densities by SciPy."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from scipy.stats import multivariate_normal

from bythebook.models.clustering.gaussian_mixture import GaussianMixture
from bythebook.models.types import Floats


class GaussianCase(NamedTuple):
    """Points, and a mixture of Gaussians that need not fit them."""

    X: Floats  # (N, D)
    pi: Floats  # (K,)
    mu: Floats  # (K, D)
    Sigma: Floats  # (K, D, D)

    @property
    def model(self) -> GaussianMixture:
        """The parameters as one restart of the project's model."""
        return GaussianMixture(self.pi[None], self.mu[None], self.Sigma[None])


def gaussian_case(rng: Generator, max_points: int = 40) -> GaussianCase:
    """A random mixture of two to four Gaussians in one to three dimensions."""
    D, K = int(rng.integers(1, 4)), int(rng.integers(2, 5))
    N = int(rng.integers(max_points // 2, max_points))
    root = rng.normal(size=(K, D, D))
    Sigma = root @ root.mT + rng.uniform(0.3, 1, (K, 1, 1)) * np.eye(D)
    X = rng.normal(size=(N, D)) * rng.uniform(0.5, 3, D)
    return GaussianCase(X, rng.dirichlet(np.full(K, 3.0)), rng.normal(size=(K, D)), Sigma)


def densities(X: Floats, mu: Floats, Sigma: Floats) -> Floats:
    """N(x_n | mu_k, Sigma_k), shape (N, K)."""
    columns = [multivariate_normal(m, S).pdf(X) for m, S in zip(mu, Sigma, strict=True)]
    return np.stack(columns, axis=-1).reshape(len(X), -1)


def log_densities(X: Floats, mu: Floats, Sigma: Floats) -> Floats:
    """Ln N(x_n | mu_k, Sigma_k), shape (N, K)."""
    columns = [multivariate_normal(m, S).logpdf(X) for m, S in zip(mu, Sigma, strict=True)]
    return np.stack(columns, axis=-1).reshape(len(X), -1)


def log_likelihood(case: GaussianCase) -> float:
    """The log likelihood of a mixture by SciPy."""
    joint = np.log(case.pi) + log_densities(case.X, case.mu, case.Sigma)
    return float(logsumexp(joint, axis=1).sum())


def bayes(case: GaussianCase) -> Floats:
    """The probabilities of the components given each point by SciPy, shape (N, K)."""
    joint = np.log(case.pi) + log_densities(case.X, case.mu, case.Sigma)
    return np.asarray(softmax(joint, axis=1))


def at_best_means(case: GaussianCase) -> GaussianCase:
    """The mixture with means where a gradient search for the highest likelihood ends."""
    N, shape = len(case.X), case.mu.shape
    precision, log_det = np.linalg.inv(case.Sigma), np.linalg.slogdet(case.Sigma)[1]

    def loss(values: Floats) -> tuple[float, Floats]:
        off = case.X[:, None] - values.reshape(shape)
        along = np.einsum("kde,nke->nkd", precision, off)
        log_p = np.log(case.pi) - (log_det + (along * off).sum(2)) / 2
        gradient = (softmax(log_p, axis=1)[:, :, None] * along).sum(0)
        return -logsumexp(log_p, axis=1).sum() / N, -gradient.ravel() / N

    best = minimize(loss, case.mu.ravel(), jac=True, method="BFGS", options={"gtol": 1e-9})
    return case._replace(mu=best.x.reshape(shape))
