r"""The alpha family of divergences and its limits (PRML 10.1.2).

    D_alpha(p||q) = 4 / (1 - alpha^2) (1 - int p^((1 + alpha) / 2) q^((1 - alpha) / 2) dx)   10.19

alpha = 1 is KL(p||q), alpha = -1 is KL(q||p). Densities are given at equally spaced places, or as
probabilities of states, whose spacing is 1.
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.types import Bools, Floats, Ints


def alpha_divergence(p: Floats, q: Floats, alpha: float, room: float = 1.0) -> Floats:
    """D_alpha of densities (..., G); infinite where the integral is."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if abs(alpha) == 1:
            a, b = (p, q) if alpha == 1 else (q, p)
            terms = np.where(a > 0, a * np.log(a / b), 0.0)
            return np.asarray(terms.sum(-1) * room)
        high, low = (1 + alpha) / 2, (1 - alpha) / 2
        empty = ((p == 0) & (high > 0)) | ((q == 0) & (low > 0))  # zero to a positive power
        terms = np.where(empty, 0.0, np.exp(high * np.log(p) + low * np.log(q)))
    return np.asarray(4 / (1 - alpha**2) * (1 - terms.sum(-1) * room))  # 10.19


class Runs(NamedTuple):
    """The best uniform q over a run of states, for each of some p (B, K)."""

    covered: Bools  # (B, K)
    divergence: Floats  # (B,)


def best_run(p: Floats, alpha: float) -> Runs:
    """The run of states with the smallest D_alpha(p||q)."""
    K = p.shape[-1]
    ends = [(i, j) for i in range(K) for j in range(i + 1, K + 1)]
    state: Ints = np.arange(K)
    runs = np.array([(state >= i) & (state < j) for i, j in ends])  # (R, K)
    q = runs / runs.sum(-1, keepdims=True)
    found = alpha_divergence(p[:, None], q, alpha)  # (B, R)
    best = np.nanargmin(found, axis=-1)
    return Runs(runs[best], found[np.arange(len(p)), best])
