"""What an algorithm costs, counted: numbers that keep a tally of what is done with them."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from experiments.contract.legacy import Scalar
from models.types import AnyArray


class Tallied:
    """A number whose products and sums are counted in a tally that it shares with its results."""

    __slots__ = ("tally", "value")

    def __init__(self, value: float, tally: Counter[str]) -> None:
        self.value, self.tally = value, tally

    def __mul__(self, other: Self) -> "Tallied":
        self.tally["products"] += 1
        return Tallied(self.value * other.value, self.tally)

    def __add__(self, other: Self) -> "Tallied":
        self.tally["sums"] += 1
        return Tallied(self.value + other.value, self.tally)

    def __ge__(self, other: Self) -> bool:  # what `max` over an array of objects asks
        self.tally["comparisons"] += 1
        return self.value >= other.value


def count_operations(function: Callable[..., Any], *arrays: AnyArray) -> Counter[str]:
    """Run a function on tallied copies of its arrays, and count."""
    tally: Counter[str] = Counter()
    wrap = np.frompyfunc(lambda value: Tallied(float(value), tally), 1, 1)
    function(*(np.asarray(wrap(array), dtype=object) for array in arrays))
    return tally


def degree(costs: list[int]) -> int | None:
    """The degree of the polynomial that costs at successive sizes lie on, exactly; None if none."""
    differences = np.array(costs, dtype=object)
    for found in range(-1, len(costs) - 2):
        if all(value == 0 for value in differences):
            return found
        differences = np.diff(differences)
    return None


def recursion_costs(
    function: Callable[..., Any], kind: str
) -> tuple[dict[str, list[int]], dict[str, Scalar]]:
    """Operations of one kind in a recursion along a chain of K states, and how they grow.

    The function takes an initial distribution (K,), transitions (K, K) and likelihoods (T, K).
    """

    def cost(K: int, T: int) -> int:
        return count_operations(function, np.ones(K), np.ones((K, K)), np.ones((T, K)))[kind]

    K, lengths = 3, list(range(1, 13))
    table = {
        "states": [K] * len(lengths),
        "length": lengths,
        "recursion": [cost(K, T) for T in lengths],
        "all_paths": [(2 * T - 1) * K**T for T in lengths],  # those of a path, times the paths
    }
    return table, {
        "cost_linear_in_length": degree(table["recursion"]) == 1,
        "cost_quadratic_in_states": degree([cost(K, 4) for K in range(2, 9)]) == 2,
        "cost_of_paths_is_exponential": degree(table["all_paths"]) is None,
    }
