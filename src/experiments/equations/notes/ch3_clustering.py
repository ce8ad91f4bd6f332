"""Equations of the Notes 3.3: K-means, mixtures of Gaussians and EM."""

import math
from itertools import product

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._mixtures import (
    at_best_means,
    bayes,
    densities,
    gaussian_case,
    log_densities,
    log_likelihood,
)
from bythebook.models.clustering import gaussian_mixture as model
from bythebook.models.clustering.kmeans import assign, one_pass
from bythebook.models.types import Floats


@equation(
    "3.10",
    section="3.3.1",
    latex=r"r_{nk} = \begin{cases} 1 & \text{if } k = \operatorname{argmin}_j \|x_n - \mu_j\|^2"
    r" \\ 0 &"
    r" \text{otherwise} \end{cases}",
)
def nearest_prototype(rng: Generator) -> Sides:
    """The first phase of K-means, against the program's pass over the points."""
    K, D = int(rng.integers(2, 6)), int(rng.integers(1, 7))
    X, mu = rng.normal(size=(int(rng.integers(20, 90)), D)), rng.normal(size=(K, D))
    nearest = np.argmin(np.square(X[:, None] - mu).sum(2), axis=1)
    return Sides(truth=np.eye(K)[assign(X, mu[None])[0]], printed=nearest[:, None] == np.arange(K))


@equation(
    "3.11",
    section="3.3.1",
    latex=r"\mu_k = \frac{\sum_n r_{nk} x_n}{\sum_n r_{nk}}",
)
def prototype_mean(rng: Generator) -> Sides:
    """The prototypes after one cycle of K-means, against the sums of the program's pass."""
    K, D = int(rng.integers(2, 6)), int(rng.integers(1, 7))
    X = rng.normal(size=(int(rng.integers(20, 90)), D))
    start = X[rng.choice(len(X), K, replace=False)]  # so that no cluster is empty
    r = np.eye(K)[assign(X, start[None])[0]]
    means = (r[:, :, None] * X[:, None]).sum(0) / r.sum(0)[:, None]
    done = one_pass(X, start[None], np.full((1, len(X)), -1), np.arange(1))
    return Sides(truth=done.sums[0] / done.counts[0][:, None], printed=means)


@equation(
    "3.15, 3.16",
    section="3.3.2",
    latex=r"\gamma(z_k) = \frac{p(z_k = 1) p(x|z_k = 1)}{\sum_{j=1}^K p(z_j = 1) p(x|z_j = 1)} ="
    r" \frac{\pi_k \mathcal{N}(x|\mu_k, \Sigma_k)}{\sum_{j=1}^K \pi_j \mathcal{N}(x|\mu_j,"
    r" \Sigma_j)}",
)
def label_posterior(rng: Generator) -> Sides:
    """The conditional probability of a component given a point, against that of the fits."""
    case = gaussian_case(rng)
    p = densities(case.X, case.mu, case.Sigma)
    mixed = (case.pi * p).sum(1)
    return Sides(
        truth=model.responsibilities(case.X, case.model)[0], printed=case.pi * p / mixed[:, None]
    )


@equation(
    "3.17, 3.23",
    section="3.3.2",
    latex=r"\ln p(X|\mu, \Sigma, \pi) = \sum_{n=1}^N \ln \left\{ \sum_{k=1}^K \pi_k"
    r" \mathcal{N}(x_n|\mu_k, \Sigma_k) \right\}",
)
def mixture_log_likelihood(rng: Generator) -> Sides:
    """The log likelihood that EM evaluates after each step."""
    case = gaussian_case(rng)
    p = densities(case.X, case.mu, case.Sigma) @ case.pi
    return Sides(truth=model.log_density(case.X, case.model)[0].sum(), printed=np.log(p).sum())


@equation(
    "3.18",
    section="3.3.2",
    latex=r"0 = - \sum_{n=1}^N \frac{\pi_k \mathcal{N}(x_n|\mu_k, \Sigma_k)}{\sum_j \pi_j"
    r" \mathcal{N}(x_n|\mu_j, \Sigma_j)} \Sigma_k (x_n - \mu_k)",
    within=1e-6,
)
def stationary_means(rng: Generator) -> Sides:
    """The condition on the means where a gradient search ends; it has Sigma for its inverse."""
    best = at_best_means(gaussian_case(rng))
    terms = [
        (gamma[:, None] * (S @ (best.X - m).T).T)
        for gamma, m, S in zip(bayes(best).T, best.mu, best.Sigma, strict=True)
    ]
    scale = np.abs(terms).sum(1).max()
    return Sides(truth=np.zeros_like(best.mu), printed=-np.sum(terms, axis=1) / scale)


@equation(
    "3.19 to 3.22",
    section="3.3.2",
    latex=r"\mu_k = \frac{1}{N_k} \sum_{n=1}^N \gamma(z_{nk}) x_n, \quad N_k = \sum_{n=1}^N"
    r" \gamma(z_{nk}), \quad \Sigma_k = \frac{1}{N_k} \sum_{n=1}^N \gamma(z_{nk})(x_n - \mu_k)"
    r"(x_n - \mu_k)^T, \quad \pi_k = \frac{N_k}{N}",
)
def mixture_m_step(rng: Generator) -> Sides:
    """The re-estimated parameters, against averages with weights by NumPy."""
    case = gaussian_case(rng)
    gamma = bayes(case)
    N_k = gamma.sum(0)
    mu = np.einsum("nk,nd->kd", gamma, case.X) / N_k[:, None]
    off = case.X[:, None] - mu
    Sigma = np.einsum("nk,nkd,nke->kde", gamma, off, off) / N_k[:, None, None]
    averages = [np.average(case.X, axis=0, weights=w) for w in gamma.T]
    spread = [np.atleast_2d(np.cov(case.X.T, aweights=w, ddof=0)) for w in gamma.T]
    return Sides(
        truth=(np.array(averages), np.array(spread), gamma.mean(0)),
        printed=(mu, Sigma, N_k / len(case.X)),
    )


@equation(
    "3.30",
    section="3.3.3",
    latex=r"\pi_k = \frac{1}{N} \sum_{n=1}^N z_{nk}",
    within=1e-6,
)
def complete_data_weights(rng: Generator) -> Sides:
    """The coefficients that maximise the complete-data log likelihood (3.29), by a search."""
    K, N = int(rng.integers(2, 6)), int(rng.integers(15, 60))
    z = np.eye(K)[np.concatenate([np.arange(K), rng.integers(K, size=N - K)])]

    def loss(logits: Floats) -> tuple[float, Floats]:
        pi = np.exp(logits - np.logaddexp.reduce(logits))
        return -(z * np.log(pi)).sum() / N, pi - z.mean(0)

    best = minimize(loss, np.zeros(K), jac=True, options={"gtol": 1e-9}).x
    return Sides(truth=np.exp(best) / np.exp(best).sum(), printed=z.sum(0) / N)


@equation(
    "3.31, 3.32",
    section="3.3.3",
    latex=r"\mathbb{E}[z_{nk}] = \gamma(z_{nk}), \quad \mathbb{E}_z[\ln p(X, Z|\mu, \Sigma,"
    r" \pi)] = \sum_{n=1}^N \sum_{k=1}^K \gamma(z_{nk}) \{ \ln \pi_k + \ln \mathcal{N}(x_n|\mu_k,"
    r" \Sigma_k) \}",
)
def expected_complete_data(rng: Generator) -> Sides:
    """The expectation under the posterior of all labellings of four points, by enumeration."""
    case = gaussian_case(rng)
    case = case._replace(X=case.X[:4])
    gamma, K = bayes(case), len(case.pi)
    joint = np.log(case.pi) + log_densities(case.X, case.mu, case.Sigma)
    every = np.array(list(product(range(K), repeat=4)))  # (K^4, 4)
    log_p = joint[np.arange(4), every].sum(1)
    weight = np.exp(log_p - np.logaddexp.reduce(log_p))
    labels = (weight[:, None, None] * (every[:, :, None] == np.arange(K))).sum(0)
    printed = (gamma * (np.log(case.pi) + log_densities(case.X, case.mu, case.Sigma))).sum()
    return Sides(truth=(labels, weight @ log_p), printed=(gamma, printed))


@equation(
    "3.34 to 3.36",
    section="3.3.4",
    latex=r"\ln p(X|\theta) = \mathcal{L}(q, \theta) + \mathrm{KL}(q\|p), \quad \mathcal{L}(q,"
    r" \theta) = \sum_z q(Z) \ln \left\{ \frac{p(X, Z|\theta)}{q(Z)} \right\}, \quad"
    r" \mathrm{KL}(q\|p) = - \sum_z q(Z) \ln \left\{ \frac{p(Z|X, \theta)}{q(Z)} \right\}",
)
def bound_and_divergence(rng: Generator) -> Sides:
    """The log likelihood for a q that does not factorise, over all labellings of a few points."""
    case = gaussian_case(rng)
    case = case._replace(X=case.X[: int(rng.integers(2, 5))])
    N, K = len(case.X), len(case.pi)
    joint = case.pi * densities(case.X, case.mu, case.Sigma)
    every = list(product(range(K), repeat=N))
    p = np.array([math.prod(joint[range(N), z]) for z in every])  # p(X, Z)
    posterior = p / p.sum()
    q = rng.dirichlet(np.ones(len(every)))
    bound = (q * np.log(p / q)).sum()
    divergence = -(q * np.log(posterior / q)).sum()
    return Sides(truth=log_likelihood(case), printed=bound + divergence)


def _labellings(rng: Generator) -> Floats:
    """Logarithms of p(X, Z) for all labellings of a few points, none of them negligible."""
    case = gaussian_case(rng)
    X = case.X[: int(rng.integers(2, 4))]
    joint = np.log(case.pi) + log_densities(X, case.mu, case.Sigma)
    joint = np.maximum(joint, joint.max(1, keepdims=True) - 5)
    every = product(range(len(case.pi)), repeat=len(X))
    return np.array([joint[range(len(X)), z].sum() for z in every])


@equation(
    "E step of 3.3.4",
    section="3.3.4",
    latex=r"\operatorname{argmax}_{q(Z)} \mathcal{L}(q, \theta^{old}) = p(Z|X, \theta^{old})",
    within=1e-6,
)
def bound_over_q(rng: Generator) -> Sides:
    """The q over all labellings of a few points that maximises the bound, by a search."""
    log_p = _labellings(rng)  # ln p(X, Z)

    def loss(values: Floats) -> tuple[float, Floats]:
        q = np.exp(values - np.logaddexp.reduce(values))
        each = log_p - np.log(q)
        return -(q @ each), -q * (each - q @ each)

    best = minimize(loss, np.zeros(len(log_p)), jac=True, options={"gtol": 1e-10}).x
    q = np.exp(best - np.logaddexp.reduce(best))
    return Sides(truth=q, printed=np.exp(log_p) / np.exp(log_p).sum())
