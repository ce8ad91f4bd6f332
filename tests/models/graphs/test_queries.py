"""Many observations at once against every setting visited, one by one."""

import numpy as np
import pytest
from graph_tables import STATES, drawn, visited
from numpy.testing import assert_allclose

from bythebook.models.graphs.factors import Factor, clamp
from bythebook.models.graphs.queries import Queries

LOOPY = ("ab", "bc", "cd", "da", "ce", "ef", "fbd")


@pytest.mark.parametrize("observed", ["", "d", "ae", "bcd"])
def test_every_row_is_a_query(observed: str) -> None:
    rng = np.random.default_rng(1)
    factors = drawn(rng, *LOOPY)
    given = {name: rng.integers(STATES[name], size=4) for name in observed}
    found = Queries(factors, observed).posteriors(given)
    assert set(found) == set("abcdef") - set(observed)
    for row in range(4 if observed else 1):
        seen = clamp(factors, {name: int(states[row]) for name, states in given.items()})
        for name, shares in found.items():
            right = visited(seen, name)
            assert_allclose(shares[row], right / right.sum(), rtol=1e-12)


def test_what_is_impossible_before_does_not_disturb() -> None:
    """A table with zeros: messages are divided where they are not zero."""
    rng = np.random.default_rng(2)
    factors = drawn(rng, "ab", "bd", "da")
    factors[0] = Factor(("a", "b"), np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.0]]))
    found = Queries(factors, "d").posteriors({"d": np.array([1, 2])})
    right = visited(clamp(factors, {"d": 2}), "b")
    assert_allclose(found["b"][1], right / right.sum(), atol=1e-15)


def test_messages_of_zeros_and_ones_are_distinguished() -> None:
    """A chain a-b-c in which either end rules out a state of b and adds up to one for another."""
    ab = Factor(("a", "b"), np.array([[0.0, 0.25, 0.5], [0.0, 0.75, 2.0]]))
    bc = Factor(("b", "c"), np.array([[0.5, 0.5], [0.875, 0.125], [0.0, 0.0]]))
    found = Queries([ab, bc], "").posteriors({})
    assert_allclose(found["a"], [[0.25, 0.75]], rtol=1e-12)  # b is in its second state
    assert_allclose(found["b"], [[0, 1, 0]], atol=1e-15)
    assert_allclose(found["c"], [[0.875, 0.125]], rtol=1e-12)
