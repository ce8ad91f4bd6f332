"""Equations of PRML 8.1.4: linear-Gaussian networks."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


def _of_all_nodes(W: Floats, b: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance from x = W x + b + noise (8.14), solved for all nodes at once."""
    through = np.linalg.solve(np.eye(len(b)) - W, np.column_stack([b, np.diag(np.sqrt(v))]))
    return through[:, 0], through[:, 1:] @ through[:, 1:].T


@equation(
    "8.15, 8.16",
    section="8.1.4",
    latex=r"\mathbb{E}[x_i] = \sum_{j \in \text{pa}_i} w_{ij} \mathbb{E}[x_j] + b_i, \quad"
    r" \text{cov}[x_i, x_j] = \sum_{k \in \text{pa}_j} w_{jk} \text{cov}[x_i, x_k] + I_{ij} v_j",
)
def recursive_moments(rng: Generator) -> Sides:
    """The moments of a random network, from the lowest numbered node on."""
    D = int(rng.integers(3, 7))
    W = np.tril(rng.normal(size=(D, D)) * (rng.random((D, D)) < 0.6), -1)
    b, v = rng.normal(size=D), rng.uniform(0.5, 2, D)
    mean, covariance = np.zeros(D), np.zeros((D, D))
    for j in range(D):
        mean[j] = sum(W[j, k] * mean[k] for k in range(j)) + b[j]
        for i in range(j + 1):
            covariance[i, j] = sum(W[j, k] * covariance[i, k] for k in range(j)) + (i == j) * v[j]
            covariance[j, i] = covariance[i, j]
    return Sides(truth=_of_all_nodes(W, b, v), printed=(mean, covariance))


@equation(
    "8.17, 8.18, exercise 8.7",
    section="8.1.4",
    latex=r"\boldsymbol{\mu} = (b_1, b_2 + w_{21} b_1, b_3 + w_{32} b_2 + w_{32} w_{21} b_1)^T,"
    r" \quad \boldsymbol{\Sigma} = \begin{pmatrix} v_1 & w_{21} v_1 & w_{32} w_{21} v_1 \\"
    r" w_{21} v_1 & v_2 + w_{21}^2 v_1 & w_{32} (v_2 + w_{21}^2 v_1) \\ w_{32} w_{21} v_1 &"
    r" w_{32} (v_2 + w_{21}^2 v_1) & v_3 + w_{32}^2 (v_2 + w_{21}^2 v_1) \end{pmatrix}",
)
def moments_of_three(rng: Generator) -> Sides:
    """The mean and the covariance of x_1 -> x_2 -> x_3."""
    w21, w32, b1, b2, b3 = rng.normal(size=5)
    v1, v2, v3 = rng.uniform(0.5, 2, 3)
    W = np.array([[0, 0, 0], [w21, 0, 0], [0, w32, 0]])
    second = v2 + w21**2 * v1
    covariance = [
        [v1, w21 * v1, w32 * w21 * v1],
        [w21 * v1, second, w32 * second],
        [w32 * w21 * v1, w32 * second, v3 + w32**2 * second],
    ]
    return Sides(
        truth=_of_all_nodes(W, np.array([b1, b2, b3]), np.array([v1, v2, v3])),
        printed=([b1, b2 + w21 * b1, b3 + w32 * b2 + w32 * w21 * b1], covariance),
    )
