"""Random hidden Markov models, and the joint probability of each path and a sequence of data."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.models.types import Floats


class Chain(NamedTuple):
    """A model, and the likelihoods of a sequence of data."""

    pi: Floats  # (K,) p(z_1 = k)
    A: Floats  # (K, K) p(z_t = k | z_{t-1} = j)
    lik: Floats  # (T, K) p(x_t | z_t = k)

    @property
    def prefixes(self) -> list[Floats]:
        """p(x_1 .. x_t, z_1 .. z_t) for t = 1 .. T."""
        return [joint(self.pi, self.A, self.lik[: t + 1]) for t in range(len(self.lik))]

    @property
    def posterior(self) -> Floats:
        """p(z_1 .. z_T | x_1 .. x_T), with an axis for each state."""
        table = joint(*self)
        return np.asarray(table / table.sum())

    @property
    def future(self) -> Floats:
        """p(x_{t+1} .. x_T | z_t = k), (T, K), from the paths that begin in k."""
        T, K = self.lik.shape
        rows = [
            [joint(self.A[k], self.A, self.lik[t + 1 :]).sum() for k in range(K)]
            for t in range(T - 1)
        ]
        return np.array([*rows, np.ones(K)])


def random_chain(rng: Generator, max_length: int = 5) -> Chain:
    """Two to four states and at least three steps; the rows are uniform on the simplex."""
    K, T = int(rng.integers(2, 5)), int(rng.integers(3, max_length + 1))
    A = rng.dirichlet(np.ones(K), K)
    return Chain(rng.dirichlet(np.ones(K)), A, rng.uniform(0.05, 1.5, (T, K)))


def joint(pi: Floats, A: Floats, lik: Floats) -> Floats:
    """p(x, z) of each of the K^T paths, with an axis for each state: a product for each path."""
    T, K = lik.shape
    z = np.indices((K,) * T)
    table = pi[z[0]] * lik[0][z[0]]
    for t in range(1, T):
        table = table * A[z[t - 1], z[t]] * lik[t][z[t]]
    return np.asarray(table)


def states(table: Floats) -> Floats:
    """The sums of a table over all states but one, (T, K)."""
    axes = range(table.ndim)
    return np.stack([table.sum(tuple(s for s in axes if s != t)) for t in axes])


def pairs(table: Floats) -> Floats:
    """The sums over all states but two successive ones, (T - 1, K, K)."""
    axes = range(table.ndim)
    return np.stack(
        [table.sum(tuple(s for s in axes if s not in (t, t + 1))) for t in range(table.ndim - 1)]
    )
