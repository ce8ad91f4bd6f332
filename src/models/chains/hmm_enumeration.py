"""Hidden Markov models by brute force: a sum over all K^T weighted paths (PRML 13.11).

    p(x, z) = pi(z_1) prod_t A(z_{t-1}, z_t) prod_t p(x_t | z_t)          for each z in {0 .. K-1}^T

The module is an independent check of the recursions of `hmm`: it passes no messages along the
chain, and every result is a sum or a maximum over the same list of products. Likelihoods
p(x_t | z_t = k) come in arrays (..., T, K); pi (..., K) and A (..., K, K) have the same leading
axes, or none.
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.types import Floats, Ints

MOST_PATHS = 2**16  # larger numbers of paths take too long


class Paths(NamedTuple):
    """All the paths of a chain and the joint probability of each with the data."""

    states: Ints  # (P, T) with P = K^T, the last time running fastest
    joint: Floats  # (..., P) p(x, z)

    @property
    def evidence(self) -> Floats:
        """The sum over all paths, p(x), shape (...)."""
        return np.asarray(self.joint.sum(axis=-1))  # 13.11

    @property
    def posterior(self) -> Floats:
        """p(z | x) of each path, shape (..., P)."""
        return np.asarray(self.joint / self.joint.sum(axis=-1, keepdims=True))


def all_paths(K: int, T: int) -> Ints:
    """Every sequence of T states, shape (K^T, T)."""
    return np.indices((K,) * T).reshape(T, -1).T


def enumerate_paths(pi: Floats, A: Floats, lik: Floats) -> Paths:
    """Weight every path by its initial probability, its transitions and its likelihoods."""
    T, K = lik.shape[-2:]
    z = all_paths(K, T)
    chain = pi[..., z[:, 0]] * A[..., z[:, :-1], z[:, 1:]].prod(axis=-1)
    return Paths(z, chain * lik[..., np.arange(T), z].prod(axis=-1))  # 13.6


def state_marginals(paths: Paths, K: int) -> Floats:
    """p(z_t = k | x), shape (..., T, K)."""
    visits = paths.states[..., None] == np.arange(K)  # (P, T, K)
    return np.tensordot(paths.posterior, visits.astype(float), axes=1)


def pair_marginals(paths: Paths, K: int) -> Floats:
    """p(z_t = j, z_{t+1} = k | x), shape (..., T - 1, K, K)."""
    visits = (paths.states[..., None] == np.arange(K)).astype(float)
    pairs = visits[:, :-1, :, None] * visits[:, 1:, None, :]
    return np.tensordot(paths.posterior, pairs, axes=1)


def filtered_marginals(pi: Floats, A: Floats, lik: Floats) -> Floats:
    """p(z_t = k | x_1 .. x_t), (..., T, K): the data after t are left out, not summed over."""
    T, K = lik.shape[-2:]
    prefixes = [enumerate_paths(pi, A, lik[..., : t + 1, :]) for t in range(T)]
    return np.stack([state_marginals(paths, K)[..., -1, :] for paths in prefixes], axis=-2)


def path_index(states: Ints, K: int) -> Ints:
    """The index of paths (..., T) in the list of `all_paths`, shape (...)."""
    return np.asarray(states @ K ** np.arange(states.shape[-1] - 1, -1, -1))


def categorical_step(pi: Floats, A: Floats, B: Floats, symbols: Ints) -> tuple[Floats, ...]:
    """One EM step for one sequence of symbols (T,): counts expected under all paths, normalised."""
    K, L = B.shape
    paths = enumerate_paths(pi, A, B.T[symbols])
    gamma, xi = state_marginals(paths, K), pair_marginals(paths, K).sum(axis=0)
    counts = np.stack([gamma[symbols == face].sum(axis=0) for face in range(L)], axis=1)
    return gamma[0], xi / xi.sum(axis=1, keepdims=True), counts / gamma.sum(axis=0)[:, None]
