"""Equations of PRML 8.4.1: messages along a chain, against all configurations."""

from itertools import pairwise

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.graphs.factors import Factor
from bythebook.models.graphs.propagation import factor_graph, two_passes
from bythebook.models.types import Floats


def _chain(rng: Generator, length: int | None = None) -> list[Floats]:
    """The potentials between neighbours; the nodes have different numbers of states."""
    states = rng.integers(2, 5, length or int(rng.integers(3, 7)))
    return [rng.uniform(0.1, 2, shape) for shape in pairwise(states)]


def _joint(psi: list[Floats]) -> Floats:
    """The product of the potentials (8.49) with an axis for each node, normalised."""
    letters = "abcdefgh"
    pairs = [letters[n : n + 2] for n in range(len(psi))]
    table = np.einsum(f"{','.join(pairs)}->{letters[: len(psi) + 1]}", *psi)
    return np.asarray(table / table.sum())


def _marginal(table: Floats, *nodes: int) -> Floats:
    return np.asarray(table.sum(tuple(n for n in range(table.ndim) if n not in nodes)))


def _alpha(psi: list[Floats], n: int) -> Floats:
    """The message forwards to a node, counted from 0 (8.55, 8.56)."""
    if n == 0:
        return np.ones(len(psi[0]))
    return np.asarray((psi[n - 1] * _alpha(psi, n - 1)[:, None]).sum(0))


def _beta(psi: list[Floats], n: int) -> Floats:
    """The message backwards to a node, counted from 0 (8.57)."""
    if n == len(psi):
        return np.ones(psi[-1].shape[1])
    return np.asarray((psi[n] * _beta(psi, n + 1)).sum(1))


def _clamped(psi: list[Floats], n: int, state: int) -> list[Floats]:
    """The potentials with the indicator of an observed state in one of them."""
    seen = [potential.copy() for potential in psi]
    link = max(n - 1, 0)
    (seen[link] if n else seen[link].T)[:, np.arange(_size(psi, n)) != state] = 0
    return seen


def _size(psi: list[Floats], n: int) -> int:
    return int(psi[0].shape[0] if n == 0 else psi[n - 1].shape[1])


@equation(
    "8.54 to 8.57",
    section="8.4.1",
    latex=r"p(x_n) = \frac{1}{Z} \mu_\alpha(x_n) \mu_\beta(x_n), \quad"
    r" \mu_\alpha(x_n) = \sum_{x_{n-1}} \psi_{n-1,n}(x_{n-1}, x_n) \mu_\alpha(x_{n-1}), \quad"
    r" \mu_\beta(x_n) = \sum_{x_{n+1}} \psi_{n+1,n}(x_{n+1}, x_n) \mu_\beta(x_{n+1})",
)
def chain_marginal(rng: Generator) -> Sides:
    """The marginal of a node from the two messages that reach it, and Z from another node."""
    psi = _chain(rng)
    n, other = rng.choice(len(psi) + 1, 2, replace=False).tolist()
    Z = (_alpha(psi, other) * _beta(psi, other)).sum()
    printed = _alpha(psi, n) * _beta(psi, n) / Z
    return Sides(truth=_marginal(_joint(psi), n), printed=printed)


@equation(
    "8.58, exercise 8.15",
    section="8.4.1",
    latex=r"p(x_{n-1}, x_n) = \frac{1}{Z} \mu_\alpha(x_{n-1}) \psi_{n-1,n}(x_{n-1}, x_n)"
    r" \mu_\beta(x_n)",
)
def pair_marginal(rng: Generator) -> Sides:
    """The joint distribution of two neighbours."""
    psi = _chain(rng)
    n = int(rng.integers(1, len(psi) + 1))
    Z = (_alpha(psi, 0) * _beta(psi, 0)).sum()
    printed = _alpha(psi, n - 1)[:, None] * psi[n - 1] * _beta(psi, n) / Z
    return Sides(truth=_marginal(_joint(psi), n - 1, n), printed=printed)


@equation(
    "exercise 8.16",
    section="8.4.1",
    latex=r"p(x_n|x_N) \propto \mu_\alpha(x_n) \mu_\beta(x_n) \quad \text{with}"
    r" \quad x_N \; \text{clamped}",
)
def clamped_chain(rng: Generator) -> Sides:
    """A node given the last one, from messages with the last one clamped to each state."""
    psi = _chain(rng)
    n, last = int(rng.integers(len(psi))), len(psi)
    rows = []
    for state in range(_size(psi, last)):
        seen = _clamped(psi, last, state)
        product = _alpha(seen, n) * _beta(seen, n)
        rows.append(product / product.sum())
    both = _marginal(_joint(psi), n, last)
    return Sides(truth=both / both.sum(0), printed=np.transpose(rows))


@equation(
    "exercise 8.17",
    section="8.4.1",
    latex=r"p(x_2|x_3, x_5) = p(x_2|x_3)",
)
def blocked_message(rng: Generator) -> Sides:
    """The distribution of x_2 given x_3 and x_5, from messages, for each value of x_5."""
    psi = _chain(rng, 5)
    third = int(rng.integers(_size(psi, 2)))
    rows = []
    for fifth in range(_size(psi, 4)):
        seen = _clamped(_clamped(psi, 2, third), 4, fifth)
        product = _alpha(seen, 1) * _beta(seen, 1)
        rows.append(product / product.sum())
    given = _marginal(_joint(psi), 1, 2)[:, third]
    return Sides(truth=np.tile(given / given.sum(), (len(rows), 1)), printed=rows)


@equation(
    "exercise 8.19",
    section="8.4.1",
    latex=r"\mu_{f_{n-1,n} \rightarrow x_n}(x_n) = \mu_\alpha(x_n), \quad"
    r" \mu_{f_{n,n+1} \rightarrow x_n}(x_n) = \mu_\beta(x_n)",
)
def chain_as_factor_graph(rng: Generator) -> Sides:
    """The messages of the sum-product algorithm to a node that is not at an end of the chain."""
    psi = _chain(rng)
    n = int(rng.integers(1, len(psi)))
    factors = [Factor((f"x{k}", f"x{k + 1}"), table) for k, table in enumerate(psi)]
    sent = two_passes(factor_graph(factors), f"x{int(rng.integers(len(psi) + 1))}")
    truth = sent[n - 1, f"x{n}"], sent[n, f"x{n}"]
    return Sides(truth=truth, printed=(_alpha(psi, n), _beta(psi, n)))
