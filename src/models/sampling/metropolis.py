r"""Metropolis-Hastings by a random walk, many chains at once (FCML 4.5.2).

    propose  w~_s ~ N(w_(s-1), Sigma)
    accept   if u <= r,   r = g(w~_s) / g(w_(s-1)),   u ~ U(0, 1)                 FCML 4.17

else w_s = w_(s-1). The proposal is symmetric, so its ratio is one; g need not be normalised. With a
flat g every proposal is accepted and the chain is a random walk (Figure 4.9).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from bythebook.models.types import Bools, Floats, Ints


class Chains(NamedTuple):
    """C chains of S samples each, the start being the first."""

    w: Floats  # (S, C, D)
    proposed: Floats  # (S - 1, C, D)
    accepted: Bools  # (S - 1, C)


def sample(
    log_g: Callable[[Floats], Floats],
    starts: Floats,
    samples: int,
    covariance: Floats,
    rng: np.random.Generator,
) -> Chains:
    """Run chains from the starts (C, D); log_g maps (C, D) to (C,).

    The covariance of the proposals is one for all, (D, D), or one per chain, (C, D, D).
    """
    w = np.array(starts, dtype=np.float64)
    C, D = w.shape
    moves = np.matvec(np.linalg.cholesky(covariance), rng.standard_normal((samples - 1, C, D)))
    log_u = np.log1p(-rng.random(moves.shape[:-1]))  # of u in (0, 1]
    path, proposed = np.empty((samples, C, D)), np.empty_like(moves)
    accepted = np.empty_like(log_u, dtype=bool)
    path[0], height = w, log_g(w)
    for s in range(len(moves)):
        proposal = np.add(path[s], moves[s], out=proposed[s])
        with np.errstate(over="ignore"):  # a proposal may be so far away that g underflows
            level = log_g(proposal)
        accept = np.less_equal(log_u[s], level - height, out=accepted[s])  # FCML 4.17
        path[s + 1] = np.where(accept[:, None], proposal, path[s])
        height = np.where(accept, level, height)
    return Chains(path, proposed, accepted)


def mixture(weights: Floats, means: Floats, covariances: Floats) -> Callable[[Floats], Floats]:
    """The log density of a mixture of K Gaussians: means (K, D), covariances (K, D, D)."""
    K, D = means.shape
    L = np.linalg.cholesky(covariances)
    whiten = np.array([solve_triangular(factor, np.eye(D), lower=True) for factor in L])
    log_det = np.log(np.diagonal(L, axis1=-2, axis2=-1)).sum(-1)
    constant = np.log(weights) - log_det - D * np.log(2 * np.pi) / 2

    def log_density(w: Floats) -> Floats:
        z = np.matvec(whiten, w[..., None, :] - means)  # (..., K, D)
        parts = constant - (z**2).sum(-1) / 2
        return np.asarray(parts[..., 0] if K == 1 else np.logaddexp.reduce(parts, axis=-1))

    return log_density


def flat(w: Floats) -> Floats:
    """The log density that is the same everywhere."""
    return np.zeros(w.shape[:-1])


def on_a_circle(mean: Floats, covariance: Floats, distance: float, count: int) -> Floats:
    """Points (count, 2) around a mean, a given number of standard deviations away."""
    turn = 2 * np.pi * np.arange(count) / count + np.pi / 4
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    return np.asarray(mean + distance * circle @ np.linalg.cholesky(covariance).T)


def first_inside(inside: Bools) -> Ints:
    """For each chain (S, C): the first sample that lies in a region; S if none does."""
    return np.where(inside.any(axis=0), inside.argmax(axis=0), len(inside))
