r"""Gaussian factors over named vectors, and messages between them (Ghahramani 8.2; MLAPP 20.2.3).

    f(x) = exp(-x' J x / 2 + h' x)

A product adds J and h; summing a variable out leaves the Schur complement. Constants are dropped.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bythebook.models.types import Floats


class Canonical(NamedTuple):
    """A factor over some vectors, with J and h in their order; `sizes` are their lengths."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    J: Floats
    h: Floats

    def places(self, names: Sequence[str]) -> list[int]:
        """The rows of J that belong to some of the vectors."""
        ends = np.cumsum([0, *self.sizes])
        return [
            row
            for name in names
            for row in range(ends[self.names.index(name)], ends[self.names.index(name) + 1])
        ]


def linear(target: str, source: str, A: Floats, Q: Floats) -> Canonical:
    """N(target | A source, Q) as a factor over both."""
    M = np.hstack([np.eye(len(A)), -A])
    J = np.asarray(M.T @ np.linalg.solve(Q, M), dtype=float)
    return Canonical((target, source), A.shape, J, np.zeros(len(J)))


def normal(name: str, mean: Floats, V: Floats) -> Canonical:
    """N(x | mean, V) as a factor over x."""
    J = np.asarray(np.linalg.inv(V), dtype=float)
    return Canonical((name,), (len(mean),), J, J @ mean)


def likelihood(name: str, x: Floats, C: Floats, R: Floats) -> Canonical:
    """N(x | C z, R) of an observed x, as a factor over z."""
    weighed = np.linalg.solve(R, C).T
    return Canonical((name,), (C.shape[1],), weighed @ C, weighed @ x)


def product(factors: Sequence[Canonical]) -> Canonical:
    """One factor over all their vectors."""
    sizes = {n: s for f in factors for n, s in zip(f.names, f.sizes, strict=True)}
    total = sum(sizes.values())
    whole = Canonical(
        tuple(sizes), tuple(sizes.values()), np.zeros((total, total)), np.zeros(total)
    )
    for factor in factors:
        at = whole.places(factor.names)
        whole.J[np.ix_(at, at)] += factor.J
        whole.h[at] += factor.h
    return whole


def keep(factor: Canonical, names: Sequence[str]) -> Canonical:
    """The factor over some of its vectors; the others are integrated out."""
    a, b = factor.places(names), factor.places([n for n in factor.names if n not in names])
    gain = np.linalg.solve(factor.J[np.ix_(b, b)], factor.J[np.ix_(b, a)]).T
    J = factor.J[np.ix_(a, a)] - gain @ factor.J[np.ix_(b, a)]
    sizes = tuple(factor.sizes[factor.names.index(name)] for name in names)
    return Canonical(tuple(names), sizes, J, factor.h[a] - gain @ factor.h[b])


def beliefs(factors: Sequence[Canonical]) -> dict[str, tuple[Floats, Floats]]:
    """Mean and covariance of every vector, by messages over the tree of the factors."""
    near = {
        name: [k for k, f in enumerate(factors) if name in f.names]
        for f in factors
        for name in f.names
    }
    sent: dict[tuple[int, str], Canonical] = {}

    def message(k: int, name: str) -> Canonical:
        """The message of factor k to a vector, computed after all messages to the factor."""
        if (k, name) not in sent:
            others = [other for other in factors[k].names if other != name]
            received = [message(j, other) for other in others for j in near[other] if j != k]
            sent[k, name] = keep(product([factors[k], *received]), [name])
        return sent[k, name]

    found = {}
    for name, around in near.items():
        whole = product([message(k, name) for k in around])
        covariance = np.asarray(np.linalg.inv(whole.J), dtype=float)
        found[name] = (covariance @ whole.h, covariance)
    return found
