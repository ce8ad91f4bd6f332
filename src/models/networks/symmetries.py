"""Weight vectors of one function: sign flips and permutations of hidden units (MLAPP 16.5.5)."""

from itertools import permutations, product

import numpy as np

from bythebook.models.networks.neural_network import Sizes, layers, predict
from bythebook.models.types import Floats, Ints


def image(theta: Floats, sizes: Sizes, order: Ints, signs: Floats) -> Floats:
    """Weights (P,) of one hidden layer with its units in another order and other signs."""
    found = np.empty_like(theta)
    (first, second), (to_first, to_second) = layers(theta, sizes), layers(found, sizes)
    to_first.W[...] = signs[:, None] * first.W[order]
    to_first.b[...] = signs * first.b[order]
    to_second.W[...] = second.W[:, order] * signs
    to_second.b[...] = second.b
    return found


def images(theta: Floats, sizes: Sizes, *, flips: bool, orders: bool) -> Floats:
    """All images under sign flips, permutations or both, (n, P), the identity among them."""
    H = sizes[1]
    turns = product((1.0, -1.0), repeat=H) if flips else [(1.0,) * H]
    ways = list(permutations(range(H))) if orders else [tuple(range(H))]
    return np.array(
        [image(theta, sizes, np.array(way), np.array(turn)) for turn in turns for way in ways]
    )


def count_equal(theta: Floats, others: Floats, sizes: Sizes, x: Floats) -> int:
    """The number of distinct weight vectors among others with the outputs of theta at x."""
    right = predict(theta, sizes, x)
    gap = np.abs(predict(others, sizes, x) - right).max((-2, -1))
    return len(np.unique(others[gap <= 1e-10], axis=0))
