"""Random tables for the tests of graphical models, and sums over them by visiting every setting."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.models.graphs.factors import SUM_PRODUCT, Factor, Semiring
from bythebook.models.types import Floats

STATES = {"a": 2, "b": 3, "c": 2, "d": 4, "e": 2, "f": 3}


def drawn(rng: Generator, *scopes: str) -> list[Factor]:
    """A table of positive numbers for each scope of variables of one letter."""
    return [Factor(tuple(s), rng.uniform(0.2, 2.0, [STATES[name] for name in s])) for s in scopes]


def visited(
    factors: Sequence[Factor], names: Sequence[str], ring: Semiring = SUM_PRODUCT
) -> Floats:
    """The sum over all variables except `names`, by visiting every setting."""
    states = {n: k for f in factors for n, k in zip(f.variables, f.table.shape, strict=True)}
    letters = sorted(states)
    answer = np.full([states[name] for name in names], ring.zero, dtype=float)
    for setting in product(*(range(states[name]) for name in letters)):
        at = dict(zip(letters, setting, strict=True))
        term: Any = ring.one
        for factor in factors:
            term = ring.times(term, factor.table[tuple(at[n] for n in factor.variables)])
        place = tuple(at[name] for name in names)
        answer[place] = ring.plus(answer[place], term)
    return answer
