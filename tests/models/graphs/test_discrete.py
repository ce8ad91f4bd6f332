"""Sums over networks against a loop over all states, and against counting cases."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.graphs.discrete import conditional, connected, marginal, total
from bythebook.models.graphs.factors import Factor

RNG = np.random.default_rng(5)
SIZES = {"a": 2, "b": 3, "c": 2, "d": 4}


def tables(*scopes: str, normalised: bool) -> list[Factor]:
    """Random tables over variables of one letter; of a directed graph, the last is the child."""
    found = []
    for scope in scopes:
        table = RNG.random([SIZES[name] for name in scope])
        scale = table.sum(-1, keepdims=True) if normalised else 1.0
        found.append(Factor(tuple(scope), table / scale))
    return found


def enumerated(factors: list[Factor]) -> dict[tuple[int, ...], float]:
    """The joint probability of every state, one at a time."""
    found = {}
    for state in product(*(range(n) for n in SIZES.values())):
        place = dict(zip(SIZES, state, strict=True))
        found[state] = np.prod([f.table[tuple(place[v] for v in f.variables)] for f in factors])
    Z = sum(found.values())
    return {state: float(p / Z) for state, p in found.items()}


@pytest.mark.parametrize(
    ("scopes", "normalised"),
    [(("a", "ab", "ac", "bcd"), True), (("ab", "bc", "cd", "da"), False)],
)
def test_marginals_and_conditionals_by_enumeration(
    scopes: tuple[str, ...], normalised: bool
) -> None:
    factors = tables(*scopes, normalised=normalised)
    joint = enumerated(factors)
    assert (abs(total(factors) - 1) < 1e-12) is normalised
    for b, d in product(range(3), range(4)):
        both = sum(p for s, p in joint.items() if s[1] == b and s[3] == d)
        alone = sum(p for s, p in joint.items() if s[3] == d)
        assert_allclose(marginal(factors, ["d", "b"])[d, b], both, rtol=1e-12)
        assert_allclose(conditional(factors, ["b"], ["d"])[b, d], both / alone, rtol=1e-12)


def test_tables_by_counting_cases() -> None:
    # Twelve cases (x, y), equally likely; every table is a share of them.
    cases = [(0, 0)] * 3 + [(0, 1)] * 1 + [(1, 0)] * 2 + [(1, 2)] * 6
    joint = [[Fraction(cases.count((i, j)), 12) for j in range(3)] for i in range(2)]
    prior = [sum(row) for row in joint]
    rows = [[p / prior[i] for p in row] for i, row in enumerate(joint)]
    factors = [Factor(("x",), np.array(prior, float)), Factor(("x", "y"), np.array(rows, float))]
    assert_allclose(marginal(factors, ["x", "y"]), np.array(joint, float), rtol=1e-12)
    assert_allclose(marginal(factors, ["y"]), [5 / 12, 1 / 12, 6 / 12], rtol=1e-12)
    assert_allclose(conditional(factors, ["x"], ["y"]), [[3 / 5, 1, 0], [2 / 5, 0, 1]], rtol=1e-12)


def test_a_condition_that_cannot_happen_says_nothing() -> None:
    factors = [Factor(("x",), np.array([0.5, 0.5])), Factor(("x", "y"), np.array([[1.0, 0.0]] * 2))]
    assert marginal(factors, ["y"]).tolist() == [1, 0]
    assert np.isnan(conditional(factors, ["x"], ["y"])[:, 1]).all()


def test_factors_far_off_are_left_out() -> None:
    factors = tables("ab", "bc", "d", normalised=False)
    assert connected(factors, ["c"]) == factors[:2]
    assert connected(factors, ["d"]) == factors[2:]
