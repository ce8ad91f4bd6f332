"""Equations of Notes 2.3.5, Bayesian logistic regression by Laplace's approximation."""

import numpy as np
from numpy.random import Generator
from scipy.special import expit, log_expit
from scipy.stats import multivariate_normal, norm

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "2.90",
    section="2.3.5",
    latex=r"-\nabla \nabla \ln p(\mathbf{w}|\mathbf{t}) = \mathbf{S}_0^{-1} + \sum_{n=1}^N"
    r" y_n (1 - y_n) \mathbf{\phi}_n \mathbf{\phi}_n^T",
    within=1e-5,
)
def curvature_of_the_log_posterior(rng: Generator) -> Sides:
    """Minus the second derivatives of the log posterior, against central differences."""
    D, N, h = int(rng.integers(1, 4)), int(rng.integers(3, 9)), 1e-3
    root, phi, w = rng.normal(size=(D, D)), rng.normal(0, 1.3, (N, D)), rng.normal(size=D)
    S0, m0, t = root @ root.T + 0.5 * np.eye(D), rng.normal(size=D), rng.integers(0, 2, N)
    prior = multivariate_normal(m0, S0)

    def log_posterior(at: np.ndarray) -> float:
        return float(log_expit((2 * t - 1) * (phi @ at)).sum() + prior.logpdf(at))

    def second(a: np.ndarray, b: np.ndarray) -> float:
        ends = [s * r * log_posterior(w + s * a + r * b) for s in (1, -1) for r in (1, -1)]
        return sum(ends) / (4 * h**2)

    truth = [[-second(a, b) for b in h * np.eye(D)] for a in h * np.eye(D)]
    y = expit(phi @ w)
    printed = np.linalg.inv(S0) + (phi.T * (y * (1 - y))) @ phi
    return Sides(truth=np.array(truth), printed=printed)


@equation(
    "2.91",
    section="2.3.5",
    latex=r"q(\mathbf{w}) = \mathcal{N}(\mathbf{w}|\mathbf{w}_{\text{MAP}}, \mathbf{S}_N), \quad"
    r" \mathbf{S}_N = -\nabla \nabla \ln p(\mathbf{w}|\mathbf{t})",
    corrected=r"q(\mathbf{w}) = \mathcal{N}(\mathbf{w}|\mathbf{w}_{\text{MAP}}, \mathbf{S}_N),"
    r" \quad \mathbf{S}_N^{-1} = -\nabla \nabla \ln p(\mathbf{w}|\mathbf{t})",
    cause="precision-called-covariance",
)
def covariance_of_the_approximation(rng: Generator) -> Sides:
    """The covariance of a Gaussian whose log density has the curvature of the log posterior.

    The logarithm of the density of such a Gaussian is a parabola with this curvature.
    """
    D = int(rng.integers(1, 4))
    root, centre = rng.normal(size=(D, D)), rng.normal(size=D)
    curvature = 0.4 * root @ root.T + rng.uniform(1.5, 3) * np.eye(D)
    w = centre + rng.normal(size=(6, D))
    parabola = -np.einsum("ki,ij,kj->k", w - centre, curvature, w - centre) / 2
    logs = [multivariate_normal(centre, S).logpdf(w) for S in (curvature, np.linalg.inv(curvature))]
    sides = [side[1:] - side[0] for side in (parabola, *logs)]
    return Sides(*sides)


@equation(
    "2.94 to 2.98",
    section="2.3.5",
    latex=r"\mu_a = \mathbf{w}_{\text{MAP}}^T \mathbf{\phi}, \quad \sigma_a^2 = \mathbf{\phi}^T"
    r" \mathbf{S}_N \mathbf{\phi}, \quad \int \sigma(\mathbf{w}^T \mathbf{\phi}) q(\mathbf{w}) \,"
    r" d\mathbf{w} = \int \sigma(a) \mathcal{N}(a|\mu_a, \sigma_a^2) \, da",
)
def activation_and_prediction(rng: Generator) -> Sides:
    """Mean and variance of the activation, and the prediction, against an integral over weights."""
    root, m, phi = rng.normal(size=(2, 2)), rng.normal(0, 1.5, 2), rng.normal(0, 1.5, 2)
    S = root @ root.T + 0.2 * np.eye(2)
    z = np.linspace(-8, 8, 161)
    grid = np.stack(np.meshgrid(z, z, indexing="ij"), axis=-1).reshape(-1, 2)
    weight = np.exp(-(grid**2).sum(1) / 2) / np.exp(-(grid**2).sum(1) / 2).sum()
    a = (m + grid @ np.linalg.cholesky(S).T) @ phi
    mean = weight @ a
    truth = (mean, weight @ (a - mean) ** 2, weight @ expit(a))
    mu, variance = m @ phi, phi @ S @ phi
    at, step = np.linspace(-80, 80, 8001, retstep=True)
    prediction = (expit(at) * norm(mu, np.sqrt(variance)).pdf(at)).sum() * step
    return Sides(truth=truth, printed=(mu, variance, prediction))
