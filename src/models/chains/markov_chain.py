r"""Markov chains over finitely many states: stationary distributions, classes, periods, limits.

    A(i, j) = p(X_t = j | X_{t-1} = i), rows sum to one;   pi = pi A

MLAPP 17.2.1 and 17.2.3, PRML 11.2.1. All functions take chains (..., K, K) over leading axes. A
state is an index of the matrix; which state leads to which depends on the positive entries alone.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.models.types import Bools, Floats, Ints

TINY = 1e-9  # singular values and imaginary parts below it are rounding


class Structure(NamedTuple):
    """Classes and periods, which depend on the positive entries of a chain only."""

    leads_to: Bools  # (..., K, K) in any number of steps, none included
    recurrent: Bools  # (..., K) wherever the chain goes from here, it can come back
    first: Bools  # (..., K) the first state of its class: i and j lead to each other
    period: Ints  # (..., K) gcd of the times of possible returns; 0 if there is none (17.28)

    @property
    def irreducible(self) -> Bools:
        return np.asarray(self.leads_to.all((-2, -1)))

    @property
    def closed(self) -> Bools:
        """The first state of each closed class, (..., K)."""
        return self.first & self.recurrent


def structure(A: Floats) -> Structure:
    """Classes and periods of chains (..., K, K)."""
    K = A.shape[-1]
    leads = (A > 0) | np.eye(K, dtype=bool)
    for _ in range(max(1, int(np.ceil(np.log2(K))))):
        leads = leads @ leads
    back = np.swapaxes(leads, -1, -2)
    together = leads & back
    period = np.zeros(A.shape[:-1], dtype=np.int64)
    step = np.broadcast_to(np.eye(K, dtype=bool), A.shape)
    for t in range(1, 3 * K + 1):  # a walk to any cycle, once around it, and back
        step = step @ (A > 0)
        period = np.where(np.diagonal(step, axis1=-2, axis2=-1), np.gcd(period, t), period)
    first = together.argmax(-1) == np.arange(K)
    return Structure(leads, np.asarray((~leads | back).all(-1)), first, period)


def stationary(A: Floats, column: int = -1) -> Floats:
    """The solution (..., K) of pi (I - A) = 0 with sum 1; one column is replaced by ones (17.26).

    The chain must have one closed class; `closed_distributions` takes them one by one.
    """
    K = A.shape[-1]
    M = np.eye(K) - A
    M[..., column] = 1.0
    r = np.zeros((*A.shape[:-1], 1))
    r[..., column, 0] = 1.0
    return np.asarray(np.linalg.solve(np.swapaxes(M, -1, -2), r)[..., 0])


def closed_distributions(A: Floats, known: Structure | None = None) -> Floats:
    """The stationary distribution of each closed class of one chain (K, K), shape (classes, K)."""
    known = known or structure(A)
    found = []
    for state in np.flatnonzero(known.closed):
        alone = np.where(known.leads_to[state][:, None], A, np.eye(len(A))[state])
        found.append(stationary(alone))  # all other states step into the class
    return np.array(found)


def average_limit(A: Floats, doublings: int = 30) -> Floats:
    """Limit of the average of the powers of A, (..., K, K); it exists for periodic chains too."""
    return limit((A + np.eye(A.shape[-1])) / 2, doublings)


def limit(A: Floats, doublings: int = 30) -> Floats:
    """A to the power of 2^doublings, by repeated squaring, rows kept at sum 1."""
    for _ in range(doublings):
        A = A @ A
        A = A / A.sum(-1, keepdims=True)
    return A


def null_dimension(A: Floats) -> Ints:
    """Number of independent solutions of pi (I - A) = 0, by singular values, (...)."""
    singular = np.linalg.svd(np.eye(A.shape[-1]) - A, compute_uv=False)
    return np.asarray((singular < TINY).sum(-1))


def is_regular(A: Floats) -> Bools:
    """Whether some power has no zero: then the (K - 1)^2 + 1st and all later ones (Wielandt)."""
    step = A > 0
    for _ in range((A.shape[-1] - 1) ** 2):
        step = step @ (A > 0)
    return np.asarray(step.all((-2, -1)))


def return_probability(A: Floats, known: Structure | None = None) -> Floats:
    """The chance (..., K) of ever coming back to each state, by first passages."""
    known = known or structure(A)
    K = A.shape[-1]
    target = np.eye(K, dtype=bool)
    # h_j: chance of ever reaching i from j, for the states j that lead to i; (..., i, j)
    reaches = np.swapaxes(known.leads_to, -1, -2) & ~target
    Q = np.where(reaches[..., :, None] & reaches[..., None, :], A[..., None, :, :], 0.0)
    into = np.where(reaches, np.swapaxes(A, -1, -2), 0.0)
    h = np.linalg.solve(np.eye(K) - Q, into[..., None])[..., 0]
    h = np.where(target, 1.0, h)
    return np.asarray((A * h).sum(-1))


def absorption(A: Floats, known: Structure | None = None) -> Floats:
    """The chance of ending in each closed class of one chain (K, K), shape (K, classes)."""
    known = known or structure(A)
    ends = np.stack([known.leads_to[state] for state in np.flatnonzero(known.closed)], axis=1)
    inside = known.recurrent
    Q = np.where(~inside[:, None] & ~inside, A, 0.0)
    into = np.where(inside[:, None], ends, A @ ends)
    return np.asarray(np.linalg.solve(np.eye(len(A)) - Q, into))


def draw_chains(states: int, n: int, rng: Generator) -> Floats:
    """Random chains (n, K, K) of all kinds: dense, sparse, with self-loops, around a circle.

    Of every four chains one has arbitrary positive entries, one has self-loops at all states in
    addition, one goes around a circle of two or three groups of states, and one has all entries
    positive.
    """
    K = states
    kind = np.arange(n) % 4
    share = rng.uniform(0.15, 0.6, n)
    mask = rng.random((n, K, K)) < share[:, None, None]
    groups = rng.integers(2, 4, n)[:, None]
    group = np.arange(K) % groups
    onward = group[:, None, :] == (group[:, :, None] + 1) % groups[..., None]
    mask |= (kind == 1)[:, None, None] & np.eye(K, dtype=bool)
    mask = np.where(
        (kind == 2)[:, None, None], onward & (mask | (rng.random(mask.shape) < 0.5)), mask
    )
    mask |= (kind == 3)[:, None, None]
    fallback = np.where((kind == 2)[:, None, None], onward, np.roll(np.eye(K, dtype=bool), 1, 1))
    mask |= ~mask.any(-1, keepdims=True) & fallback
    weight = np.where(mask, rng.exponential(size=mask.shape), 0.0)
    return np.asarray(weight / weight.sum(-1, keepdims=True))
