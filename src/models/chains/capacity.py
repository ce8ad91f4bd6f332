r"""Information of a discrete state about the past, in bits, and the cost of a step (Ghahramani 5).

    I(z_t; x_1, x_2, ...) <= H(z_t) <= log2 (number of states)

M variables of K states each are one variable of K^M states; if each depends on its own past alone,
a step forward can take them one by one.
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.graphs.elimination import Eliminated, eliminate
from bythebook.models.graphs.factors import Factor, keep
from bythebook.models.types import Floats


def information(start: Floats, transition: Floats, emission: Floats) -> float:
    """Bits about two observations in the state after them."""
    first = start[:, None] * emission  # z, x
    second = np.einsum("zx,zw,wy->wxy", first, transition, emission)
    p = np.einsum("wxy,wv->vxy", second, transition).reshape(len(start), -1)
    apart = np.outer(p.sum(1), p.sum(0))
    there = p > 0
    return float((p[there] * np.log2(p[there] / apart[there])).sum())


class Step(NamedTuple):
    """The next state's distribution, an axis for each variable, and its operations."""

    p: Floats
    way: Eliminated


def as_one(transitions: list[Floats]) -> Floats:
    """The table from every joint state to every other of chains that do not act on each other."""
    whole: Floats = np.ones((1, 1))
    for one in transitions:
        whole = np.asarray(np.kron(whole, one))
    return whole


def flat_step(p: Floats, transitions: list[Floats]) -> Step:
    """All variables as one, by the table of their joint states."""
    whole = as_one(transitions)
    way = eliminate([Factor(("z",), p.ravel()), Factor(("z", "next"), whole)], ["z"])
    return Step(np.asarray(way.answer.table).reshape(p.shape), way)


def chain_step(p: Floats, transitions: list[Floats]) -> Step:
    """Each variable separately, one after another."""
    now = [f"z{m}" for m in range(len(transitions))]
    then = [f"next{m}" for m in range(len(transitions))]
    tables = [Factor((a, b), t) for a, b, t in zip(now, then, transitions, strict=True)]
    way = eliminate([Factor(tuple(now), p), *tables], now)
    return Step(np.asarray(keep(way.answer, then).table), way)
