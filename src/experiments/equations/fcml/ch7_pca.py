"""Equations of FCML 7.2, principal components analysis."""

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.latent.pca import pca
from bythebook.models.types import Floats


def _data(rng: Generator) -> Floats:
    """Correlated data (N, M) with means that are not zero."""
    N, M = int(rng.integers(8, 30)), int(rng.integers(2, 6))
    return np.asarray(rng.normal(0, 2, M) + rng.normal(size=(N, M)) @ rng.normal(size=(M, M)))


@equation(
    "7.1, 7.2",
    section="7.2",
    latex=r"\sigma_x^2 = \frac{1}{N} \sum_{n=1}^N (x_n - \bar{x})^2 = \mathbf{w}^T \mathbf{C}"
    r" \mathbf{w}, \quad \mathbf{C} = \frac{1}{N} \sum_{n=1}^N (\mathbf{y}_n - \bar{\mathbf{y}})"
    r" (\mathbf{y}_n - \bar{\mathbf{y}})^T",
)
def variance_of_a_projection(rng: Generator) -> Sides:
    """The variance of the data along a direction, as a quadratic form of their covariance."""
    Y = _data(rng)
    w, centred = rng.normal(size=Y.shape[1]), Y - Y.mean(0)
    C = 1 / len(Y) * centred.T @ centred
    return Sides(truth=np.var(Y @ w), printed=w @ C @ w)


@equation(
    "7.3, largest variance",
    section="7.2",
    latex=r"\max_{\mathbf{w}^T \mathbf{w} = 1} \mathbf{w}^T \mathbf{C} \mathbf{w} = \lambda_1,"
    r" \quad \mathbf{C} \mathbf{w} = \lambda \mathbf{w}",
    within=1e-6,
)
def direction_of_largest_variance(rng: Generator) -> Sides:
    """The largest variance along a direction, by a search, and the next one orthogonal to it."""
    Y = _data(rng)
    found = pca(Y)
    first = found.W[:, 0]
    rest = Y - np.outer(Y @ first, first)
    largest = []
    for X in (Y, rest):
        start = rng.normal(size=Y.shape[1])  # there is no other maximum to be caught in
        largest.append(-minimize(lambda w, X=X: -np.var(X @ w) / (w @ w), start, tol=1e-12).fun)
    return Sides(truth=largest, printed=found.eigenvalues[:2])


@equation(
    "7.3, variances of all projections",
    section="7.2",
    latex=r"\lambda_d = \sigma_{x_d}^2, \quad x_{nd} = \mathbf{w}_d^T \mathbf{y}_n",
)
def eigenvalues_are_variances(rng: Generator) -> Sides:
    """Each eigenvalue of the covariance is the variance of the projections on its direction."""
    Y = _data(rng)
    values, W = np.linalg.eigh(np.cov(Y.T, bias=True))
    return Sides(truth=np.var(Y @ W, axis=0), printed=values)


@equation(
    "7.2, covariance as Y^T Y",
    section="7.2",
    latex=r"\mathbf{C} = \mathbf{Y}^T \mathbf{Y}",
    corrected=r"\mathbf{C} = \frac{1}{N} \mathbf{Y}^T \mathbf{Y}",
    cause="covariance-without-n",
)
def covariance_of_centred_data(rng: Generator) -> Sides:
    """The sample covariance of centred data, whose eigenvalues are the variances."""
    Y = _data(rng)
    centred = Y - Y.mean(0)
    return Sides(
        truth=np.cov(Y.T, bias=True),
        printed=centred.T @ centred,
        corrected=centred.T @ centred / len(Y),
    )


def _orthogonal(A: Floats) -> float:
    """1 if the eigenvectors, by a routine that does not assume symmetry, are orthogonal."""
    U = np.linalg.eig(A)[1]
    cosines = abs(U.conj().T @ U) * (1 - np.eye(len(A)))
    return float(cosines.max() < 1e-6)


@equation(
    "comment 7.1",
    section="7.2",
    latex=r"\mathbf{A} \mathbf{u}_i = \lambda_i \mathbf{u}_i: \quad \mathbf{u}_i^T \mathbf{u}_j = 0"
    r" \; \text{for an} \; M \times M \; \text{matrix} \; \mathbf{A}",
    corrected=r"\mathbf{A} \mathbf{u}_i = \lambda_i \mathbf{u}_i: \quad \mathbf{u}_i^T"
    r" \mathbf{u}_j = 0 \; \text{for a symmetric matrix} \; \mathbf{A}",
    cause="eigenvectors-of-any-matrix",
)
def eigenvectors_are_orthogonal(rng: Generator) -> Sides:
    """Whether the eigenvectors are orthogonal: of a square matrix, and of a covariance matrix."""
    Y = _data(rng)
    M = Y.shape[1]
    truth = [_orthogonal(Y[:M]), _orthogonal(np.cov(Y.T))]
    return Sides(truth=truth, printed=[1.0, 1.0], corrected=[0.0, 1.0])
