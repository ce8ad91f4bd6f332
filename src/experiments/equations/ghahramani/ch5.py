"""Equations of Ghahramani's section 5, limitations of hidden Markov models."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.graphs.dimension import dimension, tables
from bythebook.models.types import Floats


def _information(start: Floats, transition: Floats, emission: Floats) -> float:
    """Bits about two observations in the state after them, from the joint table."""
    first = start[:, None] * emission  # z, x
    second = np.einsum("zx,zw,wy->wxy", first, transition, emission)
    p = np.einsum("wxy,wv->vxy", second, transition).reshape(len(start), -1)
    apart, there = np.outer(p.sum(1), p.sum(0)), p > 0
    return float((p[there] * np.log2(p[there] / apart[there])).sum())


@equation(
    "section 5, bits of M variables",
    section="5",
    latex=r"\max I(s_t; \mathbf{y}_{1:t-1}) = M \log_2 K",
)
def bits_of_a_vector_state(rng: Generator) -> Sides:
    """M variables of K states can capture M log2 K bits about the past.

    A chain that goes through all joint states in a random order, seen without errors.
    """
    K, M = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    order = rng.permutation(K**M)
    transition = np.zeros((K**M, K**M))
    transition[order, np.roll(order, -1)] = 1
    start, emission = np.full(K**M, K**-M), np.eye(K**M)[rng.permutation(K**M)]
    return Sides(truth=_information(start, transition, emission), printed=M * np.log2(K))


@equation(
    "section 5, parameters of M chains",
    section="5",
    latex=r"K^{2M} - 1 \;\text{as one chain}, \quad M (K^2 - 1) \;\text{for restricted chains}",
)
def parameters_of_chains(rng: Generator) -> Sides:
    """As one chain the number of parameters is exponential in M; restricted chains have fewer.

    Parameters of the distribution of two steps; the other side is the rank of a Jacobian.
    """
    K, M = [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2)][int(rng.integers(5))]
    before = [list(range(i)) for i in range(2 * M)]
    apart: list[list[int]] = [*([] for _ in range(M)), *([i] for i in range(M))]
    truth = dimension(tables(before, K), rng), dimension(tables(apart, K), rng)
    return Sides(truth=truth, printed=(K ** (2 * M) - 1, M * (K**2 - 1)))
