"""Operation counts of algorithms: numbers that keep a tally of their operations."""

from collections import Counter
from collections.abc import Callable
from math import exp
from typing import Any, Self

import numpy as np

from bythebook.models.types import AnyArray


class Tallied:
    """A number whose operations are counted in a tally that it shares with its results."""

    __slots__ = ("tally", "value")

    def __init__(self, value: float, tally: Counter[str]) -> None:
        self.value, self.tally = value, tally

    def _counted(self, kind: str, value: float) -> "Tallied":
        self.tally[kind] += 1
        return Tallied(value, self.tally)

    def __mul__(self, other: Self) -> "Tallied":
        return self._counted("products", self.value * other.value)

    def __truediv__(self, other: "Tallied | float") -> "Tallied":
        divisor = other.value if isinstance(other, Tallied) else other
        return self._counted("quotients", self.value / divisor)

    def __add__(self, other: Self) -> "Tallied":
        return self._counted("sums", self.value + other.value)

    def __sub__(self, other: Self) -> "Tallied":
        return self._counted("sums", self.value - other.value)

    def exp(self) -> "Tallied":  # `np.exp` of an array of objects calls it
        return self._counted("exponentials", exp(self.value))

    def __ge__(self, other: Self) -> bool:  # `max` over an array of objects calls it
        self.tally["comparisons"] += 1
        return self.value >= other.value

    def __lt__(self, other: Self) -> bool:  # and `argmin` calls this
        self.tally["comparisons"] += 1
        return self.value < other.value


def count_operations(function: Callable[..., Any], *arrays: AnyArray) -> Counter[str]:
    """Run a function on tallied copies of its arrays, and count."""
    tally: Counter[str] = Counter()
    wrap = np.frompyfunc(lambda value: Tallied(float(value), tally), 1, 1)
    function(*(np.asarray(wrap(array), dtype=object) for array in arrays))
    return tally
