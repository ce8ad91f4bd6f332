r"""A random walk on the integers: stay, or one up or one down (PRML 11.34-11.36; MLAPP 17.2.3.3).

Distributions of every time are exact, by one convolution per step. First returns to the origin are
exact, by a walk that ends there. Walks differ in `ups`, the probability of a move being upwards.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.models.types import Floats


class WalkMoments(NamedTuple):
    """Moments of walks that are at 0 at time 1; (walks, times)."""

    place: Floats  # E z
    square: Floats  # E z^2
    largest: Floats  # the most probable place's probability
    returned: Floats  # chance of having come back to 0 by now
    waited: Floats  # E of the moves until the first return, or until now if that is sooner
    reached: Floats  # (walks, 3) the largest probability of being at -1, 0 and 1 after a move


def moments(ups: Floats, stay: float, times: int) -> WalkMoments:
    """Moments and first returns at times 1 .. times."""
    W, N = len(ups), times - 1
    z = np.arange(-N, N + 1)
    moves = np.stack([(1 - stay) * (1 - ups), np.full(W, stay), (1 - stay) * ups])[..., None]
    free = np.zeros((W, 2 * N + 1))
    free[:, N] = 1.0
    away = free.copy()  # has not come back
    found = np.zeros((3, W, times))
    returned, reached = np.zeros((W, times)), np.zeros((W, 3))
    for t in range(times):
        if t:
            free, away = _moved(free, moves), _moved(away, moves)
            returned[:, t] = returned[:, t - 1] + away[:, N]
            away[:, N] = 0.0
            reached = np.maximum(reached, free[:, N - 1 : N + 2])
        found[:, :, t] = free @ z, free @ z**2, free.max(1)
    waited = np.zeros((W, times))
    waited[:, 1:] = (1 - returned).cumsum(1)[:, :-1]
    place, square, largest = found
    return WalkMoments(place, square, largest, returned, waited, reached)


def _moved(p: Floats, moves: Floats) -> Floats:
    down, stay, up = moves
    found = stay * p
    found[:, :-1] += down * p[:, 1:]
    found[:, 1:] += up * p[:, :-1]
    return np.asarray(found)


def return_probability(ups: Floats, stay: float, iterations: int = 4000) -> Floats:
    """The chance of ever coming back to 0, (walks,).

    From 1 the walk gets to 0 with the smallest h that solves h = down + up h^2, which iterating
    from 0 approaches from below; the case of -1 is symmetric.
    """
    from_above, from_below = np.zeros_like(ups), np.zeros_like(ups)
    for _ in range(iterations):
        from_above = (1 - ups) + ups * from_above**2
        from_below = ups + (1 - ups) * from_below**2
    return np.asarray(stay + (1 - stay) * (ups * from_above + (1 - ups) * from_below))


def draw_walks(ups: Floats, stay: float, times: int, n: int, rng: Generator) -> Floats:
    """Places at times 1 .. times of n walks of each kind, (walks, n, times)."""
    u = rng.random((len(ups), n, times - 1))
    up = np.asarray(ups)[:, None, None] * (1 - stay)
    step = np.where(u < up, 1.0, np.where(u < 1 - stay, -1.0, 0.0))
    return np.concatenate([np.zeros((len(ups), n, 1)), step.cumsum(-1)], axis=-1)
