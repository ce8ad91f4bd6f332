"""Semirings that count their sums and products."""

from typing import Any

import numpy as np

from bythebook.models.graphs.factors import SUM_PRODUCT, Operation, Semiring, Table


class Tally:
    """The number of operations on two numbers."""

    def __init__(self) -> None:
        self.operations = 0


class _Counted:
    """An operation that adds the number of pairs it processes to a tally."""

    def __init__(self, inner: Operation, tally: Tally) -> None:
        self.inner, self.tally = inner, tally

    def __call__(self, one: Any, other: Any, /) -> Any:
        result = self.inner(one, other)
        self.tally.operations += np.size(result)
        return result

    def reduce(self, table: Table, /, *, axis: tuple[int, ...]) -> Any:
        result = self.inner.reduce(table, axis=axis)
        self.tally.operations += table.size - np.size(result)
        return result


def counted(ring: Semiring = SUM_PRODUCT) -> tuple[Semiring, Tally]:
    """The same semiring, and a tally that both of its operations add to."""
    tally = Tally()
    plus, times = _Counted(ring.plus, tally), _Counted(ring.times, tally)
    return Semiring(plus, times, ring.zero, ring.one), tally
