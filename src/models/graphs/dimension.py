"""Dimension of a family of distributions: the rank of its Jacobian at a generic point.

A family maps parameters to the numbers that define a distribution: the entries of a table, or of a
covariance. Its dimension is the rank of the derivative, which is below the number of parameters if
some are redundant. Derivatives are taken by a complex step, exact up to rounding.
"""

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Family = Callable[[NDArray[np.complex128]], NDArray[np.complex128]]
STEP = 1e-30


class Parametrised(NamedTuple):
    """A family and its number of parameters."""

    numbers: int
    family: Family


def dimension(of: Parametrised, rng: Generator) -> int:
    """The rank of the Jacobian at a random point."""
    theta = rng.standard_normal(of.numbers).astype(complex)
    columns = []
    for k in range(of.numbers):
        moved = theta.copy()
        moved[k] += 1j * STEP
        columns.append(of.family(moved).imag.ravel() / STEP)
    return int(np.linalg.matrix_rank(np.array(columns))) if columns else 0


def tables(parents: list[list[int]], K: int, tied: bool = False) -> Parametrised:
    """The joint of a directed graph, nodes in an order; K - 1 free numbers per row of each table.

    `tied` nodes share one table, all except the first.
    """
    rows = [K ** len(above) for above in parents]
    counts = [(K - 1) * r for r in rows]
    starts = [0, *np.cumsum(counts)]
    if tied:
        starts = [0, *[counts[0]] * len(parents)]

    states = np.array(list(product(range(K), repeat=len(parents))))
    row = [states[:, above] @ K ** np.arange(len(above))[::-1] for above in parents]

    def joint(theta: NDArray[np.complex128]) -> NDArray[np.complex128]:
        p = np.ones(len(states), complex)
        for node in range(len(parents)):
            own = theta[starts[node] : starts[node] + counts[node]].reshape(-1, K - 1)
            weights = np.exp(np.hstack([own, np.zeros((rows[node], 1))]))
            table = weights / weights.sum(1, keepdims=True)
            p = p * table[row[node], states[:, node]]
        return p

    return Parametrised(sum(counts[:2] if tied else counts), joint)


def sigmoid(M: int) -> Parametrised:
    """p(y = 1 | x) = sigma(w_0 + w'x) for every x of M binary parents (PRML 8.10)."""
    x = np.array(list(product((0, 1), repeat=M)), dtype=float).reshape(-1, M)

    def table(w: NDArray[np.complex128]) -> NDArray[np.complex128]:
        return np.asarray(1 / (1 + np.exp(-w[0] - x @ w[1:])))

    return Parametrised(M + 1, table)


def noisy_or(M: int) -> Parametrised:
    """p(y = 1 | x) = 1 - (1 - mu_0) prod (1 - mu_i)^x_i of M binary parents (PRML 8.104)."""
    x = np.array(list(product((0, 1), repeat=M)), dtype=float).reshape(-1, M)

    def table(w: NDArray[np.complex128]) -> NDArray[np.complex128]:
        log_off = -np.log1p(np.exp(w))  # of 1 - mu, mu = sigma(w)
        return np.asarray(1 - np.exp(log_off[0] + x @ log_off[1:]))

    return Parametrised(M + 1, table)


def boltzmann(M: int, biases: bool = True) -> Parametrised:
    """p(x) ~ exp(sum w_st x_s x_t + sum b_s x_s) of M binary variables."""
    x = np.array(list(product((0, 1), repeat=M)), dtype=float)
    s, t = np.triu_indices(M, 1)
    features = np.hstack([x[:, s] * x[:, t], x]) if biases else x[:, s] * x[:, t]

    def joint(theta: NDArray[np.complex128]) -> NDArray[np.complex128]:
        weights = np.exp(features @ theta)
        return np.asarray(weights / weights.sum())

    return Parametrised(features.shape[1], joint)


def full_covariance(D: int) -> Parametrised:
    """Any covariance, from a triangular matrix."""
    i, j = np.tril_indices(D)

    def covariance(theta: NDArray[np.complex128]) -> NDArray[np.complex128]:
        L = np.zeros((D, D), complex)
        L[i, j] = theta
        return np.asarray(L @ L.T)

    return Parametrised(len(i), covariance)


def low_rank_covariance(D: int, M: int, *, isotropic: bool) -> Parametrised:
    """W W' and noise: of one variance (probabilistic PCA), or of D (factor analysis).

    The rank does not depend on the sign of a variance.
    """

    def covariance(theta: NDArray[np.complex128]) -> NDArray[np.complex128]:
        W = theta[: D * M].reshape(D, M)
        return np.asarray(W @ W.T + theta[D * M :] * np.eye(D))

    return Parametrised(D * M + (1 if isotropic else D), covariance)
