r"""Ising models and Boltzmann machines small enough for all states (MLAPP 19.4.1, 19.5.1).

    p(y) = 1/Z exp(sum_{s~t} w_st y_s y_t + sum_s b_s y_s) = 1/Z exp(theta' phi(y))    MLAPP 19.19

y is -1 or 1, or 0 or 1. Parameters theta are the weights of the links, then the biases. Arrays of
parameters and of probabilities may have any number of axes before the last.
"""

from itertools import product

import numpy as np

from bythebook.models.graphs.pairwise import grid
from bythebook.models.types import Floats, Ints


def all_states(N: int, low: int = -1) -> Floats:
    """Every state of N binary variables, one per row; `low` is -1 or 0, the other value 1."""
    return np.array(list(product((low, 1), repeat=N)), dtype=float)


def features(y: Floats, links: Ints) -> Floats:
    """phi(y): products along links, then the variables themselves."""
    return np.concatenate([y[..., links[:, 0]] * y[..., links[:, 1]], y], axis=-1)


def log_partition(theta: Floats, phi: Floats) -> Floats:
    """Log Z of parameters (..., F), from the features (states, F) of all states."""
    score = theta @ phi.T
    top = score.max(-1)
    return np.asarray(top + np.log(np.exp(score - top[..., None]).sum(-1)))


def probabilities(theta: Floats, phi: Floats) -> Floats:
    """p(y) of all states."""
    return np.asarray(np.exp(theta @ phi.T - log_partition(theta, phi)[..., None]))


def log_likelihood(theta: Floats, phi: Floats, share: Floats) -> Floats:
    """(19.38) of data given as the share of each state."""
    return np.asarray((share @ phi * theta).sum(-1) - log_partition(theta, phi))


def gradient(theta: Floats, phi: Floats, share: Floats) -> Floats:
    """Mean features of the data less those of the model (19.42)."""
    return np.asarray((share - probabilities(theta, phi)) @ phi)


def weight_matrix(theta: Floats, links: Ints, N: int) -> Floats:
    """W, symmetric, with a zero diagonal."""
    W = np.zeros((*theta.shape[:-1], N, N))
    s, t = links.T
    W[..., s, t] = W[..., t, s] = theta[..., : len(links)]
    return W


def ring(N: int) -> Ints:
    return np.array([(k, (k + 1) % N) for k in range(N)])


def cube(rows: int, columns: int, layers: int) -> Ints:
    """The links of a lattice in three dimensions."""
    number = np.arange(rows * columns * layers).reshape(rows, columns, layers)
    pairs = []
    for along in range(3):
        ahead = np.moveaxis(number, along, 0)
        pairs.append(np.column_stack([ahead[:-1].ravel(), ahead[1:].ravel()]))
    return np.concatenate(pairs)


def triangles(rows: int, columns: int) -> Ints:
    """A lattice with a diagonal in each square."""
    number = np.arange(rows * columns).reshape(rows, columns)
    slanted = np.column_stack([number[:-1, :-1].ravel(), number[1:, 1:].ravel()])
    return np.concatenate([grid(rows, columns), slanted])


def named(shape: str) -> Ints:
    """The links of `grid 3x4`, `cube 2x2x3`, `triangles 3x4` or `ring 9`."""
    kind, _, size = shape.partition(" ")
    sides = [int(side) for side in size.split("x")]
    kinds = {"grid": grid, "cube": cube, "triangles": triangles, "ring": ring}
    return np.asarray(kinds[kind](*sides), dtype=np.int64)  # type: ignore[operator]
