"""Equations of FCML 6.2 and 6.3: K-means and mixtures of Gaussians."""

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import softmax
from scipy.stats import entropy

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._mixtures import (
    bayes,
    densities,
    gaussian_case,
    log_densities,
    log_likelihood,
)
from bythebook.models.clustering import gaussian_mixture as model
from bythebook.models.clustering.gaussian_mixture import GaussianMixture
from bythebook.models.types import Floats


@equation(
    "6.1",
    section="6.2",
    latex=r"\mathbf{\mu}_k = \frac{\sum_n z_{nk} \mathbf{x}_n}{\sum_n z_{nk}}",
)
def cluster_mean(rng: Generator) -> Sides:
    """The mean of the objects of a cluster minimises the total distance D (6.2)."""
    K, D = int(rng.integers(2, 6)), int(rng.integers(1, 5))
    X = rng.normal(size=(int(rng.integers(2 * K, 40)), D)) + rng.normal(size=D)
    z = np.eye(K)[np.concatenate([np.arange(K), rng.integers(K, size=len(X) - K)])]
    best = np.linalg.lstsq(z, X, rcond=None)[0]
    return Sides(truth=best, printed=np.einsum("nk,nd->kd", z, X) / z.sum(0)[:, None])


@equation(
    "6.3",
    section="6.2.3",
    latex=r"d_{nk} = K(\mathbf{x}_n, \mathbf{x}_n) - \frac{2}{N_k} \sum_{m=1}^N z_{mk}"
    r" K(\mathbf{x}_n, \mathbf{x}_m) + \frac{1}{N_k^2} \sum_{m=1}^N \sum_{r=1}^N z_{mk} z_{rk}"
    r" K(\mathbf{x}_m, \mathbf{x}_r)",
)
def kernel_mean_distance(rng: Generator) -> Sides:
    """The squared distance of an object from the mean of a cluster in the space of a kernel.

    The rows of a root of the kernel matrix are vectors with the kernel's inner products.
    """
    N, C = int(rng.integers(4, 15)), int(rng.integers(2, 4))
    features = rng.normal(size=(N, int(rng.integers(2, 6)))) * rng.uniform(0.5, 3)
    K = features @ features.T
    z = np.eye(C)[np.concatenate([np.arange(C), rng.integers(C, size=N - C)])]
    N_k = z.sum(0)
    within = np.einsum("mk,rk,mr->k", z, z, K)
    d = np.diag(K)[:, None] - 2 / N_k * (K @ z) + within / N_k**2
    means = [features[own > 0].mean(0) for own in z.T]
    return Sides(truth=np.square(features[:, None] - means).sum(2), printed=d)


@equation(
    "6.5, 6.6",
    section="6.3.2",
    latex=r"L = \log p(\mathbf{X} | \Delta, \pi) = \sum_{n=1}^N \log \sum_{k=1}^K \pi_k"
    r" p(\mathbf{x}_n | \mathbf{\mu}_k, \mathbf{\Sigma}_k)",
)
def mixture_log_likelihood(rng: Generator) -> Sides:
    """The log likelihood of a mixture, against that which EM maximises."""
    case = gaussian_case(rng)
    p = densities(case.X, case.mu, case.Sigma)
    L = np.log((case.pi * p).sum(1)).sum()
    return Sides(truth=model.e_step(case.X, case.model)[1][0], printed=L)


@equation(
    "6.8",
    section="6.3.3",
    latex=r"\mathcal{B} = \sum_{n=1}^N \sum_{k=1}^K q_{nk} \log \pi_k + \sum_{n=1}^N"
    r" \sum_{k=1}^K q_{nk} \log p(\mathbf{x}_n | \mathbf{\mu}_k, \mathbf{\Sigma}_k) -"
    r" \sum_{n=1}^N \sum_{k=1}^K q_{nk} \log q_{nk}",
)
def mixture_bound(rng: Generator) -> Sides:
    """The bound for any q is the log likelihood less the divergences from Bayes' rule."""
    case = gaussian_case(rng)
    q = rng.dirichlet(np.full(len(case.pi), 0.8), len(case.X))
    log_p = log_densities(case.X, case.mu, case.Sigma)
    bound = (q * np.log(case.pi)).sum() + (q * log_p).sum() - (q * np.log(q)).sum()
    return Sides(truth=log_likelihood(case) - entropy(q, bayes(case), axis=1).sum(), printed=bound)


@equation(
    "6.14, 6.18",
    section="6.3.3.4",
    latex=r"q_{nk} = \frac{\pi_k p(\mathbf{x}_n | \mathbf{\mu}_k, \mathbf{\Sigma}_k)}{\sum_{j=1}^K"
    r" \pi_j p(\mathbf{x}_n | \mathbf{\mu}_j, \mathbf{\Sigma}_j)}",
    within=1e-6,
)
def assignment_update(rng: Generator) -> Sides:
    """The q that maximises the bound (6.8) with the components fixed, by a search."""
    case = gaussian_case(rng, max_points=8)
    N, K = len(case.X), len(case.pi)
    terms = np.log(case.pi) + log_densities(case.X, case.mu, case.Sigma)

    def loss(values: Floats) -> tuple[float, Floats]:
        q = softmax(values.reshape(N, K), axis=1)
        each = terms - np.log(q)
        slope = q * (each - (q * each).sum(1)[:, None])
        return -(q * each).sum(), -slope.ravel()

    # From near the uniform q; components that explain an object far better are capped.
    terms = np.maximum(terms, terms.max(1, keepdims=True) - 8)
    best = minimize(loss, np.zeros(N * K), jac=True, options={"gtol": 1e-10, "maxiter": 1000}).x
    p = np.exp(terms)
    return Sides(truth=softmax(best.reshape(N, K), axis=1), printed=p / p.sum(1)[:, None])


@equation(
    "6.15 to 6.17",
    section="6.3.3.5",
    latex=r"\pi_k = \frac{1}{N} \sum_{n=1}^N q_{nk}, \quad \mathbf{\mu}_k = \frac{\sum_{n=1}^N"
    r" q_{nk} \mathbf{x}_n}{\sum_{n=1}^N q_{nk}}, \quad \mathbf{\Sigma}_k = \frac{\sum_{n=1}^N"
    r" q_{nk} (\mathbf{x}_n - \mathbf{\mu}_k)(\mathbf{x}_n - \mathbf{\mu}_k)^T}{\sum_{n=1}^N"
    r" q_{nk}}",
)
def mixture_updates(rng: Generator) -> Sides:
    """The updates of the components; the fits compute them from moments about the old means."""
    case = gaussian_case(rng)
    q = bayes(case)
    total = q.sum(0)
    mu = np.einsum("nk,nd->kd", q, case.X) / total[:, None]
    off = case.X[:, None] - mu
    Sigma = np.einsum("nk,nkd,nke->kde", q, off, off) / total[:, None, None]
    after = model.m_step(case.model, model.e_step(case.X, case.model)[0])
    return Sides(truth=tuple(part[0] for part in after), printed=(total / len(q), mu, Sigma))


def _restricted(rng: Generator, kind: model.Covariance) -> tuple[Floats, Floats, Floats, Floats]:
    """Points, responsibilities and means, and the fits' variances for a kind of covariance."""
    case = gaussian_case(rng)
    q = bayes(case)
    statistics = model.e_step(case.X, case.model)[0]
    after: GaussianMixture = model.m_step(case.model, statistics, covariance=kind)
    return case.X, q, after.mu[0], np.diagonal(after.Sigma[0], axis1=1, axis2=2)


@equation(
    "exercise 6.1",
    section="6.3.7",
    latex=r"\sigma_{kd}^2 = \frac{\sum_{n=1}^N q_{nk} (x_{nd} - \mu_{kd})^2}{\sum_{n=1}^N q_{nk}}",
)
def diagonal_update(rng: Generator) -> Sides:
    """The update of the variances of diagonal covariances."""
    X, q, mu, variances = _restricted(rng, "diagonal")
    squares = (q[:, :, None] * (X[:, None] - mu) ** 2).sum(0)
    return Sides(truth=variances, printed=squares / q.sum(0)[:, None])


@equation(
    "exercise 6.2",
    section="6.3.7",
    latex=r"\sigma_k^2 = \frac{\sum_{n=1}^N q_{nk} \sum_{d=1}^D (x_{nd} - \mu_{kd})^2}{D"
    r" \sum_{n=1}^N q_{nk}}",
)
def isotropic_update(rng: Generator) -> Sides:
    """The update of the variance of an isotropic covariance."""
    X, q, mu, variances = _restricted(rng, "spherical")
    squares = np.einsum("nk,nkd->k", q, (X[:, None] - mu) ** 2)
    return Sides(truth=variances[:, 0], printed=squares / (X.shape[1] * q.sum(0)))
