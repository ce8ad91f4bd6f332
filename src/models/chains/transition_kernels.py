r"""Transition matrices for a target p over a few states, and their gaps to detailed balance.

    detailed balance   p(z) T(z, z') = p(z') T(z', z)       invariance   sum_z p(z) T(z, z') = p(z')

PRML 11.2.1 and 11.2.2 (11.39 to 11.45), notes 3.4.2 (3.46 to 3.52), MLAPP 17.2.3.4. T[..., i, j]
is the chance of going from i to j; targets are (..., K), proposals q (..., K, K), from i to j.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.models.types import Floats


class Problem(NamedTuple):
    """Targets, and proposals that are not symmetrical."""

    p: Floats  # (n, K)
    q: Floats  # (n, base, K, K) each leads from a state to some of the others


def draw_problems(states: int, base: int, n: int, rng: Generator) -> Problem:
    """Targets with Dirichlet(1) weights; a proposal reaches about half of the states."""
    K = states
    p = rng.dirichlet(np.ones(K), n)
    mask = np.triu(rng.random((n, base, K, K)) < 0.5)  # where one may go one may come back from
    mask = mask | np.swapaxes(mask, -1, -2) | np.eye(K, dtype=bool)
    weight = np.where(mask, rng.exponential(size=mask.shape), 0.0)
    return Problem(p, weight / weight.sum(-1, keepdims=True))


def balance_gap(p: Floats, T: Floats) -> Floats:
    """Flows from i to j minus those from j to i, (..., K, K)."""
    flow = p[..., :, None] * T
    return np.asarray(flow - np.swapaxes(flow, -1, -2))  # 11.40


def invariance_gap(p: Floats, T: Floats) -> Floats:
    """The change of each entry of p in one step, (..., K)."""
    return np.asarray(np.vecmat(p, T) - p)  # 11.39


def with_rejections(q: Floats, accept: Floats) -> Floats:
    """Proposals accepted with a probability; a rejected one leaves the state unchanged."""
    T = q * accept
    missing = 1 - T.sum(-1)
    return np.asarray(T + missing[..., None] * np.eye(q.shape[-1]))


def hastings_acceptance(p: Floats, q: Floats) -> Floats:
    """min{1, p(z') q(z|z') / p(z) q(z'|z)} for a move from z = i to z' = j (11.44)."""
    there = p[..., :, None] * q
    back = np.swapaxes(there, -1, -2)
    return np.minimum(1.0, np.divide(back, there, out=np.ones_like(there), where=there > 0))


def outright_acceptance(p: Floats, q: Floats) -> Floats:
    """p(z') q(z|z'), as notes (3.49) print it."""
    return np.asarray(p[..., None, :] * np.swapaxes(q, -1, -2))


def rotation(p: Floats) -> Floats:
    """Around a circle, with the same flow from each state to the next: p is invariant."""
    K = p.shape[-1]
    onward = 0.5 * p.min(-1, keepdims=True) / p
    return np.asarray(
        onward[..., None] * np.roll(np.eye(K), 1, 1) + (1 - onward)[..., None] * np.eye(K)
    )


def conditional(p: Floats, shape: tuple[int, int], variable: int) -> Floats:
    """One of two variables drawn given the other, (..., K, K); states in the order of `shape`."""
    table = p.reshape(*p.shape[:-1], *shape)
    given = table / table.sum(-2 + variable, keepdims=True)
    same = np.eye(shape[1 - variable])
    if variable == 0:  # (a, b) -> (a', b): p(a' | b)
        T = np.einsum("...cb,bd,a->...abcd", given, same, np.ones(shape[0]))
    else:  # (a, b) -> (a, b'): p(b' | a)
        T = np.einsum("...ad,ac,b->...abcd", given, same, np.ones(shape[1]))
    return np.asarray(T.reshape(*p.shape[:-1], p.shape[-1], p.shape[-1]))
