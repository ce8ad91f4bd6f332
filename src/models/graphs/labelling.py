r"""Labelling of pixels with local costs and links to neighbours (MLAPP 19.4.3, 19.6.2.7).

    E(y) = sum_s u_s(y_s) + sum_{s~t} V(y_s, y_t),  p(y) ~ exp(-E(y))

Costs u are arrays (..., label, row, column), V is a symmetric matrix. Pixels of one colour of a
chequerboard have no links and change together.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.models.types import Bools, Floats, Ints


def around(p: Floats) -> Floats:
    """The sum over the neighbours of each pixel, of arrays with rows and columns last."""
    total = np.zeros_like(p)
    total[..., 1:, :] += p[..., :-1, :]
    total[..., :-1, :] += p[..., 1:, :]
    total[..., 1:] += p[..., :-1]
    total[..., :-1] += p[..., 1:]
    return total


def one_hot(y: Ints, labels: int) -> Floats:
    """Labels (..., row, column) as (..., label, row, column), one for the label and else zero."""
    return np.asarray(y[..., None, :, :] == np.arange(labels)[:, None, None], dtype=float)


def conditional_cost(p: Floats, u: Floats, V: Floats) -> Floats:
    """u_s(k) + sum of V(k, l) p_t(l) over neighbours t: of labels, or of beliefs about them."""
    return np.asarray(u + _mixed(V, around(p)))


def _mixed(V: Floats, p: Floats) -> Floats:
    """sum_l V(k, l) p(l) of every pixel."""
    return np.asarray((V @ p.reshape(*p.shape[:-2], -1)).reshape(p.shape))


def _colours(shape: tuple[int, ...]) -> tuple[Bools, Bools]:
    white = np.indices(shape[-2:]).sum(0) % 2 == 0
    return white, ~white


def modes(u: Floats, V: Floats) -> Ints:
    """Iterated conditional modes from the labels of smallest local cost, until convergence."""
    y: Ints = u.argmin(-3)
    while True:
        before = y
        for colour in _colours(u.shape):
            best = conditional_cost(one_hot(y, len(V)), u, V).argmin(-3)
            y = np.where(colour, best, y)
        if np.array_equal(before, y):
            return y


def gibbs(u: Floats, V: Floats, sweeps: int, dropped: int, rng: Generator) -> Floats:
    """Shares of labels (..., label, row, column) in the sweeps after the dropped ones."""
    y: Ints = u.argmin(-3)
    total = np.zeros(u.shape)
    for sweep in range(sweeps):
        for colour in _colours(u.shape):
            p = _normalised(-conditional_cost(one_hot(y, len(V)), u, V))
            up_to = np.cumsum(p, axis=-3)
            drawn = (rng.random(y.shape)[..., None, :, :] > up_to[..., :-1, :, :]).sum(-3)
            y = np.where(colour, drawn, y)
        if sweep >= dropped:
            total += one_hot(y, len(V))
    return total / (sweeps - dropped)


def _normalised(log_p: Floats) -> Floats:
    p = np.exp(log_p - log_p.max(-3, keepdims=True))
    return np.asarray(p / p.sum(-3, keepdims=True))


def mean_field(u: Floats, V: Floats, sweeps: int = 30) -> Floats:
    """Beliefs of pixels as if independent, each given the mean of its neighbours."""
    q = _normalised(-u)
    for _ in range(sweeps):
        for colour in _colours(u.shape):
            q = np.where(colour, _normalised(-conditional_cost(q, u, V)), q)
    return q


def messages(
    u: Floats, V: Floats, rounds: int, soft: bool, damping: float = 0.0
) -> Iterator[Floats]:
    """Costs of beliefs before the first round of messages and after each round.

    `soft` messages are those of marginals, ln sum exp; others those of the best labelling, min-sum.
    The four messages to a pixel come from above, below, left and right.
    """
    received = np.zeros((len(_SIDES), *u.shape))
    yield u
    for _ in range(rounds):
        belief = u + received.sum(0)
        new = np.zeros_like(received)
        for side, (source, target) in enumerate(_SIDES):
            rest = (
                belief - received[side ^ 1]
            )  # without the message from the receiver, which is on the other side
            new[side][target] = _passed(rest[source], V, soft)
        received = damping * received + (1 - damping) * new
        yield u + received.sum(0)


_ALL, _FIRST, _LAST = slice(None), slice(1, None), slice(None, -1)
_SIDES: tuple[tuple[Any, Any], ...] = (
    ((..., _LAST, _ALL), (..., _FIRST, _ALL)),
    ((..., _FIRST, _ALL), (..., _LAST, _ALL)),
    ((..., _LAST), (..., _FIRST)),
    ((..., _FIRST), (..., _LAST)),
)


def _passed(rest: Floats, V: Floats, soft: bool) -> Floats:
    """A pixel's message: its smallest cost for each label of the receiver, or the soft minimum."""
    least = rest.min(-3, keepdims=True)
    if soft:
        found = -np.log(_mixed(np.exp(-V), np.exp(least - rest)))
    else:
        found = np.stack([(rest + V[:, k, None, None]).min(-3) for k in range(len(V))], -3) - least
    return np.asarray(found - found.min(-3, keepdims=True))


def potts_cost(labels: int, strength: float) -> Floats:
    """J for unequal labels: up to a constant, -J for equal ones."""
    return strength * (1 - np.eye(labels))


def quadratic_cost(labels: int, strength: float, truncated: float = np.inf) -> Floats:
    """Squared differences, at most delta_0 squared (19.69, 19.70)."""
    k = np.arange(labels)
    return np.asarray(strength * np.minimum((k[:, None] - k) ** 2.0, truncated**2))


def drawn_regions(shape: tuple[int, int], labels: int, count: int, rng: Generator) -> Ints:
    """An image in which every pixel has the label of the nearest of some drawn places."""
    places = rng.random((count, 2)) * shape
    pixels = np.moveaxis(np.indices(shape), 0, -1)[:, :, None, :]
    nearest = ((pixels - places) ** 2).sum(-1).argmin(-1)
    return np.asarray(rng.integers(labels, size=count)[nearest])
