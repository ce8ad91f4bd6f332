r"""Models of binary sequences, each a probability of every sequence (Ghahramani 10, Figure 4).

A coin of known bias; and a chain of order h, whose next toss depends on the h tosses before it by a
probability theta_c for each of their 2^h values c, uniform a priori. With n_c1 heads and n_c0 tails
after c the chain's evidence is

    P(x) = 2^-h prod_c B(n_c1 + 1, n_c0 + 1)

where the first h tosses are fair; of order 0 it is a coin of unknown bias.
"""

import numpy as np
from scipy.special import betaln

from bythebook.models.types import Floats, Ints


def all_sequences(length: int) -> Ints:
    """Every sequence of zeros and ones, (2^length, length), counting up."""
    return (np.arange(2**length)[:, None] >> np.arange(length)[::-1]) & 1


def known_coin(x: Ints, bias: float) -> Floats:
    """Probabilities of sequences (..., N) of a coin that gives 1 with this probability."""
    return np.asarray(np.where(x == 1, bias, 1 - bias).prod(-1))


def contexts(x: Ints, order: int) -> Ints:
    """The value of the `order` tosses before each toss from there on, (..., N - order)."""
    N = x.shape[-1]
    before = [x[..., i : N - order + i] << (order - 1 - i) for i in range(order)]
    return sum(before, np.zeros_like(x[..., order:]))


def chain_evidence(x: Ints, order: int) -> Floats:
    """Probabilities of sequences (..., N) of a chain whose parameters are uniform a priori."""
    context, later = contexts(x, order)[..., None], x[..., order:, None]
    same = context == np.arange(2**order)
    heads, tails = (same & (later == 1)).sum(-2), (same & (later == 0)).sum(-2)
    return np.asarray(np.exp(betaln(heads + 1, tails + 1).sum(-1) - order * np.log(2)))
