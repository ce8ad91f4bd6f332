"""Equations of PRML 9.1 and 9.2: K-means and mixtures of Gaussians."""

from itertools import product

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._mixtures import (
    at_best_means,
    bayes,
    densities,
    gaussian_case,
    log_likelihood,
)
from bythebook.models.clustering import gaussian_mixture as model


@equation(
    "9.1, 9.2",
    section="9.1",
    latex=r"r_{nk} = \begin{cases} 1 & \text{if } k = \operatorname{argmin}_j \|\mathbf{x}_n -"
    r" \mathbf{\mu}_j\|^2 \\ 0 & \text{otherwise} \end{cases}",
)
def nearest_centre(rng: Generator) -> Sides:
    """The assignments that minimise J for given centres, of all assignments."""
    K, N, D = (int(rng.integers(*ends)) for ends in ((2, 4), (4, 7), (1, 4)))
    X, mu = rng.normal(size=(N, D)), rng.normal(size=(K, D))
    every = list(product(np.eye(K), repeat=N))
    J = [((X - np.array(r) @ mu) ** 2).sum() for r in every]
    nearest = np.argmin(np.square(X[:, None] - mu).sum(2), axis=1)
    best = np.array(every[int(np.argmin(J))])
    return Sides(truth=best, printed=nearest[:, None] == np.arange(K))


@equation(
    "9.3, 9.4",
    section="9.1",
    latex=r"\mathbf{\mu}_k = \frac{\sum_n r_{nk} \mathbf{x}_n}{\sum_n r_{nk}}",
)
def centre_of_points(rng: Generator) -> Sides:
    """The centres that minimise J for given assignments: a problem of least squares."""
    K, D = int(rng.integers(2, 6)), int(rng.integers(1, 5))
    X = rng.normal(size=(int(rng.integers(2 * K, 40)), D)) + rng.normal(size=D)
    r = np.eye(K)[np.concatenate([np.arange(K), rng.integers(K, size=len(X) - K)])]
    best = np.linalg.lstsq(r, X, rcond=None)[0]
    return Sides(truth=best, printed=r.T @ X / r.sum(0)[:, None])


@equation(
    "9.13, 9.23",
    section="9.2",
    latex=r"\gamma(z_k) = \frac{\pi_k \mathcal{N}(\mathbf{x}|\mathbf{\mu}_k, \mathbf{\Sigma}_k)}"
    r"{\sum_{j=1}^K \pi_j \mathcal{N}(\mathbf{x}|\mathbf{\mu}_j, \mathbf{\Sigma}_j)}",
)
def responsibility(rng: Generator) -> Sides:
    """The responsibilities of the components, against those of the fits."""
    case = gaussian_case(rng)
    joint = case.pi * densities(case.X, case.mu, case.Sigma)
    return Sides(
        truth=model.responsibilities(case.X, case.model)[0],
        printed=joint / joint.sum(1)[:, None],
    )


@equation(
    "9.14, 9.28",
    section="9.2.1",
    latex=r"\ln p(\mathbf{X}|\mathbf{\pi}, \mathbf{\mu}, \mathbf{\Sigma}) = \sum_{n=1}^N \ln"
    r" \left\{ \sum_{k=1}^K \pi_k \mathcal{N}(\mathbf{x}_n|\mathbf{\mu}_k, \mathbf{\Sigma}_k)"
    r" \right\}",
)
def mixture_log_likelihood(rng: Generator) -> Sides:
    """The log likelihood of a mixture of Gaussians, against that which EM maximises."""
    case = gaussian_case(rng)
    p = case.pi * densities(case.X, case.mu, case.Sigma)
    return Sides(truth=model.e_step(case.X, case.model)[1][0], printed=np.log(p.sum(1)).sum())


@equation(
    "9.15",
    section="9.2.1",
    latex=r"\mathcal{N}(\mathbf{x}_n|\mathbf{x}_n, \sigma_j^2 \mathbf{I}) ="
    r" \frac{1}{(2\pi)^{1/2}} \frac{1}{\sigma_j}",
    corrected=r"\mathcal{N}(\mathbf{x}_n|\mathbf{x}_n, \sigma_j^2 \mathbf{I}) ="
    r" \frac{1}{(2\pi)^{D/2}} \frac{1}{\sigma_j^D}",
    cause="normaliser-of-one-dimension",
)
def height_at_mean(rng: Generator) -> Sides:
    """The density of a round Gaussian at its own mean."""
    D, sigma = int(rng.integers(2, 6)), rng.uniform(0.1, 4)
    x = rng.normal(size=D)
    return Sides(
        truth=densities(x[None], x[None], sigma**2 * np.eye(D)[None])[0, 0],
        printed=1 / (2 * np.pi) ** (1 / 2) / sigma,
        corrected=1 / (2 * np.pi) ** (D / 2) / sigma**D,
    )


@equation(
    "9.16",
    section="9.2.2",
    latex=r"0 = - \sum_{n=1}^N \gamma(z_{nk}) \mathbf{\Sigma}_k (\mathbf{x}_n - \mathbf{\mu}_k)",
    within=1e-6,
)
def stationary_means(rng: Generator) -> Sides:
    """The condition on the means at a maximum of the log likelihood, found by a gradient search.

    It holds with the covariance, as printed, and with its inverse, as in the derivative.
    """
    best = at_best_means(gaussian_case(rng))
    off = best.X[:, None] - best.mu
    sums = -np.einsum("nk,kde,nke->kd", bayes(best), best.Sigma, off)
    scale = np.einsum("nk,kde,nke->kd", bayes(best), best.Sigma, np.abs(off))
    return Sides(truth=np.zeros_like(sums), printed=sums / np.abs(scale).max())


@equation(
    "9.17 to 9.19, 9.22, 9.24 to 9.27",
    section="9.2.2",
    latex=r"\mathbf{\mu}_k = \frac{1}{N_k} \sum_{n=1}^N \gamma(z_{nk}) \mathbf{x}_n, \quad"
    r" \mathbf{\Sigma}_k = \frac{1}{N_k} \sum_{n=1}^N \gamma(z_{nk}) (\mathbf{x}_n -"
    r" \mathbf{\mu}_k)(\mathbf{x}_n - \mathbf{\mu}_k)^T, \quad \pi_k = \frac{N_k}{N}, \quad"
    r" N_k = \sum_{n=1}^N \gamma(z_{nk})",
)
def mixture_m_step(rng: Generator) -> Sides:
    """The M step from the responsibilities; the fits compute it from moments about old means."""
    case = gaussian_case(rng)
    gamma = bayes(case)
    N_k = gamma.sum(0)
    mu = gamma.T @ case.X / N_k[:, None]
    off = case.X[:, None] - mu
    Sigma = np.einsum("nk,nkd,nke->kde", gamma, off, off) / N_k[:, None, None]
    after = model.m_step(case.model, model.e_step(case.X, case.model)[0])
    return Sides(truth=tuple(part[0] for part in after), printed=(N_k / len(case.X), mu, Sigma))


@equation(
    "9.20, 9.21",
    section="9.2.2",
    latex=r"0 = \sum_{n=1}^N \frac{\mathcal{N}(\mathbf{x}_n|\mathbf{\mu}_k, \mathbf{\Sigma}_k)}"
    r"{\sum_j \pi_j \mathcal{N}(\mathbf{x}_n|\mathbf{\mu}_j, \mathbf{\Sigma}_j)} + \lambda,"
    r" \quad \lambda = -N",
    within=1e-7,
)
def mixing_derivative(rng: Generator) -> Sides:
    """The derivative of the log likelihood with its multiplier in a mixing coefficient."""
    case, h = gaussian_case(rng), 1e-5
    p = densities(case.X, case.mu, case.Sigma)
    moved = [
        (log_likelihood(case._replace(pi=case.pi + e)) - h * len(case.X))
        - (log_likelihood(case._replace(pi=case.pi - e)) + h * len(case.X))
        for e in h * np.eye(len(case.pi))
    ]
    mixed = p @ case.pi
    return Sides(truth=np.array(moved) / (2 * h), printed=(p / mixed[:, None]).sum(0) - len(case.X))
