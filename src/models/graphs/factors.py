r"""Tables over named variables, multiplied and summed in any commutative semiring (MLAPP 20.3.2).

    f x g (x, y, z) = f(x, y) x g(y, z)                              the product
    (sum_y f) (x, z) = + over y of f(x, y, z)                         a variable summed out

The semiring defines + and x: sums and products for marginals, maxima for the most probable
configuration, minima and sums for costs, `or` and `and` for satisfiability (MLAPP Table 20.2).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Table = NDArray[Any]
Setting = Mapping[str, int]


class Operation(Protocol):
    """An operation used as + or x: of two tables, and of all entries along some axes."""

    def __call__(self, one: Any, other: Any, /) -> Any: ...

    def reduce(self, table: Table, /, *, axis: tuple[int, ...]) -> Any: ...


class Semiring(NamedTuple):
    """Two operations used as + and x, and the neutral element of each."""

    plus: Operation
    times: Operation
    zero: float
    one: float


SUM_PRODUCT = Semiring(np.add, np.multiply, 0.0, 1.0)
MAX_PRODUCT = Semiring(np.maximum, np.multiply, 0.0, 1.0)
MAX_SUM = Semiring(np.maximum, np.add, -np.inf, 0.0)
MIN_SUM = Semiring(np.minimum, np.add, np.inf, 0.0)
BOOLEAN = Semiring(np.logical_or, np.logical_and, False, True)


class Factor(NamedTuple):
    """A table over some variables, one axis each, in their order."""

    variables: tuple[str, ...]
    table: Table

    def over(self, variables: Sequence[str]) -> Table:
        """The table with these variables as axes, of length one where it does not depend on one."""
        kept = [name for name in variables if name in self.variables]
        table = self.table.transpose([self.variables.index(name) for name in kept])
        sizes = dict(zip(kept, table.shape, strict=True))
        return table.reshape([sizes.get(name, 1) for name in variables])


def scope(factors: Iterable[Factor]) -> tuple[str, ...]:
    """All variables of some factors, each once, in the order in which they come."""
    return tuple(dict.fromkeys(name for factor in factors for name in factor.variables))


def sizes(factors: Iterable[Factor]) -> dict[str, int]:
    """The number of states of each variable."""
    return {
        name: size
        for factor in factors
        for name, size in zip(factor.variables, factor.table.shape, strict=True)
    }


def product(factors: Sequence[Factor], ring: Semiring = SUM_PRODUCT) -> Factor:
    """One table over all their variables; of no factors the semiring's one."""
    names = scope(factors)
    table = np.asarray(ring.one)
    for factor in factors:
        table = ring.times(table, factor.over(names))
    return Factor(names, np.broadcast_to(table, [sizes(factors)[name] for name in names]))


def sum_out(factor: Factor, away: Iterable[str], ring: Semiring = SUM_PRODUCT) -> Factor:
    """The factor over the remaining variables when those of `away` are summed over."""
    gone = tuple(factor.variables.index(name) for name in away)
    left = tuple(name for k, name in enumerate(factor.variables) if k not in gone)
    return Factor(left, ring.plus.reduce(factor.table, axis=gone) if gone else factor.table)


def keep(factor: Factor, names: Sequence[str], ring: Semiring = SUM_PRODUCT) -> Factor:
    """The factor over `names` alone, in their order; all else is summed out."""
    left = sum_out(factor, [name for name in factor.variables if name not in names], ring)
    return Factor(tuple(names), left.over(names))


def condition(factor: Factor, given: Setting) -> Factor:
    """The factor where some variables have been observed; their axes are gone."""
    at = tuple(given.get(name, slice(None)) for name in factor.variables)
    return Factor(tuple(n for n in factor.variables if n not in given), factor.table[at])


def clamp(factors: Sequence[Factor], given: Setting, ring: Semiring = SUM_PRODUCT) -> list[Factor]:
    """The factors and an indicator for each observed variable, whose axis stays (PRML 8.4.4)."""
    states = sizes(factors)
    indicators = []
    for name, state in given.items():
        table = np.full(states[name], ring.zero)
        table[state] = ring.one
        indicators.append(Factor((name,), table))
    return [*factors, *indicators]


def normalised(factor: Factor) -> Factor:
    """The same, divided by its sum."""
    return Factor(factor.variables, factor.table / factor.table.sum())


def best(factor: Factor) -> dict[str, int]:
    """The setting of the largest entry; of equal ones the first."""
    at = np.unravel_index(int(np.argmax(factor.table)), factor.table.shape)
    return {name: int(k) for name, k in zip(factor.variables, at, strict=True)}
