r"""Associative memory: patterns stored in the weights of a Hopfield network (MLAPP 19.4.2).

    E(y) = -1/2 y'Wy - b'y,  y_s = -1, 1                                               MLAPP 19.19
    y_s = 1 if sum_t w_st y_t + b_s > 0, else -1                          19.4.2, its sign corrected

Weights are those of the outer product rule, sum_p y_p y_p' / N, or of the pseudo-likelihood with a
Gaussian prior. Their number is the square of the number of units, so the weights of images are
stored in factored form: with patterns Y (P, N) the gradient of the pseudo-likelihood is a sum of
outer products, so W = Y'A + A'Y with A (P, N) and a zero diagonal.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from bythebook.models.compiled import compiled
from bythebook.models.graphs import boltzmann
from bythebook.models.types import Bools, Floats, Ints


class Memory(NamedTuple):
    """W = left' right + right' left without its diagonal, and b."""

    left: Floats  # (P, N)
    right: Floats  # (P, N)
    bias: Floats  # (N,)

    def field(self, y: Floats) -> Floats:
        """W y + b, for states (..., N)."""
        both = y @ self.left.T @ self.right + y @ self.right.T @ self.left
        own = 2 * (self.left * self.right).sum(0)
        return np.asarray(both - own * y + self.bias)

    def energy(self, y: Floats) -> Floats:
        return np.asarray(-((self.field(y) + self.bias) * y).sum(-1) / 2)


def outer_product(patterns: Floats) -> Memory:
    """Hopfield's rule."""
    N = patterns.shape[1]
    return Memory(patterns / (2 * N), patterns, np.zeros(N))


def by_pseudo_likelihood(patterns: Floats, steps: int, ridge: float) -> Memory:
    """Gradient steps on sum_s ln sigma(2 y_s field_s), less a Gaussian prior, from zero weights."""
    P, N = patterns.shape
    memory = Memory(np.zeros((P, N)), patterns, np.zeros(N))
    for _ in range(steps):
        miss = 2 / (1 + np.exp(2 * patterns * memory.field(patterns)))  # 2 sigma(-2 y field)
        pull = miss * patterns / P
        left = memory.left + (pull / N - ridge * memory.left)
        memory = Memory(left, patterns, memory.bias + pull.sum(0) / N - ridge * memory.bias)
    return memory


@compiled
def _sweep(left: Floats, right: Floats, bias: Floats, y: Floats, free: Ints) -> int:
    """Set each free unit to its lower energy, in order and in place; returns the number changed."""
    P, N = left.shape
    along, across = np.zeros(P), np.zeros(P)  # left y, right y
    for p in range(P):
        for s in range(N):
            along[p] += left[p, s] * y[s]
            across[p] += right[p, s] * y[s]
    changed = 0
    for s in free:
        field = bias[s]
        for p in range(P):
            field += left[p, s] * (across[p] - right[p, s] * y[s])
            field += right[p, s] * (along[p] - left[p, s] * y[s])
        new = 1.0 if field > 0 else -1.0
        if abs(field) > 1e-9 and new != y[s]:  # smaller values are rounding errors of zero
            changed += 1
            for p in range(P):
                along[p] += left[p, s] * (new - y[s])
                across[p] += right[p, s] * (new - y[s])
            y[s] = new
    return changed


def completed(memory: Memory, y: Floats, hidden: Bools) -> list[Floats]:
    """States from y on, after each sweep of iterated conditional modes over the hidden units.

    It ends after a sweep without a change.
    """
    path, free, changed = [y.copy()], np.flatnonzero(hidden), True
    while changed:
        path.append(path[-1].copy())
        changed = _sweep(memory.left, memory.right, memory.bias, path[-1], free) > 0
    return path


def by_likelihood(patterns: Floats, ridge: float) -> Memory:
    """Maximum likelihood with a Gaussian prior, by all states; for few units."""
    N = patterns.shape[1]
    links = np.column_stack(np.triu_indices(N, 1))
    phi = boltzmann.features(boltzmann.all_states(N), links)
    wanted = boltzmann.features(patterns, links).mean(0)

    def loss(theta: Floats) -> float:
        prior = ridge * (theta @ theta) / 2
        return float(boltzmann.log_partition(theta, phi) - wanted @ theta + prior)

    def slope(theta: Floats) -> Floats:
        return np.asarray(boltzmann.probabilities(theta, phi) @ phi - wanted + ridge * theta)

    def curvature(theta: Floats) -> Floats:
        p = boltzmann.probabilities(theta, phi)
        mean = p @ phi
        return np.asarray((phi.T * p) @ phi - np.outer(mean, mean) + ridge * np.eye(len(theta)))

    start, ways = np.zeros(phi.shape[1]), {"jac": slope, "hess": curvature}
    theta = minimize(loss, start, method="trust-exact", options={"gtol": 1e-10}, **ways).x
    theta = theta - np.linalg.solve(curvature(theta), slope(theta))  # where values no longer change
    W = boltzmann.weight_matrix(theta, links, N)
    return Memory(W / 2, np.eye(N), theta[len(links) :])
