r"""A hidden Markov source of two persistent states, observed as 0 or 1 with errors.

The module computes exact entropies of the next observation given the last n, by summing over all
sequences (Ghahramani 4).
"""

import numpy as np
from numpy.random import Generator

from bythebook.models.probability.information import entropy
from bythebook.models.types import Floats, Ints


def tables(stay: float, noise: float) -> tuple[Floats, Floats, Floats]:
    """First state, transitions and observations of the source."""
    A = np.array([[stay, 1 - stay], [1 - stay, stay]])
    B = np.array([[1 - noise, noise], [noise, 1 - noise]])
    return np.array([0.5, 0.5]), A, B


def conditional_bits(pi: Floats, A: Floats, B: Floats, orders: int) -> Floats:
    """H[y_t | last n] in bits for n = 0 .. orders - 1, (orders,)."""
    alpha = pi * B.T  # (sequences, states): p(y_1 .. y_n, z_n)
    totals = [0.0]
    for _ in range(orders):
        totals.append(float(entropy(alpha.sum(1)) / np.log(2)))
        alpha = np.einsum("sk,kj,jl->slj", alpha, A, B).reshape(-1, len(pi))
    return np.diff(totals)


def draw(
    pi: Floats, A: Floats, B: Floats, length: int, n: int, rng: Generator
) -> tuple[Ints, Ints]:
    """Some sequences of states and of observations, (n, length); two states, two symbols."""
    turns = rng.random((n, length)) < A[0, 1]
    turns[:, 0] = rng.random(n) < pi[1]
    states = np.cumsum(turns, axis=1) % 2
    return states, (states + (rng.random((n, length)) < B[0, 1])) % 2
