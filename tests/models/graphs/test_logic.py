"""Rules unrolled by hand, and weights of worlds one by one."""

from math import exp

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.graphs.logic import (
    Atom,
    Ground,
    Rule,
    clause_holds,
    ground,
    interaction_order,
    nodes,
    world_probabilities,
    worlds,
)

SMOKES = Rule((Atom("Fr", ("x", "y")), Atom("Sm", ("x",))), Atom("Sm", ("y",)))


def test_a_rule_for_two_people() -> None:
    assert SMOKES.clause() == "not Fr(x, y) or not Sm(x) or Sm(y)"
    found = list(ground(SMOKES, ["A", "B"]))
    assert found[1] == Ground(("Fr(A, B)", "Sm(A)"), "Sm(B)")
    assert len(found) == 4
    assert nodes(found) == ["Fr(A, A)", "Sm(A)", "Fr(A, B)", "Sm(B)", "Fr(B, A)", "Fr(B, B)"]
    apart = list(ground(SMOKES, ["A", "B"], apart=True))
    assert [one.premises[0] for one in apart] == ["Fr(A, B)", "Fr(B, A)"]


def test_clauses_hold_where_their_implications_do() -> None:
    one = Ground(("p", "q"), "r")
    some = worlds(3)
    assert some.tolist()[6] == [True, True, False]
    right = [world.tolist() != [True, True, False] for world in some]
    assert clause_holds(one, ["p", "q", "r"], some).tolist() == right


def test_worlds_are_weighted_by_clauses_that_hold() -> None:
    counts = [np.array([0.0, 1.0, 1.0]), np.array([2.0, 0.0, 1.0])]
    weights = [0.7, -0.4]
    raw = [exp(-0.8), exp(0.7), exp(0.3)]
    assert_allclose(world_probabilities(counts, weights), np.array(raw) / sum(raw))
    shifted = world_probabilities([1000 + c for c in counts], weights)
    assert_allclose(shifted, np.array(raw) / sum(raw))


@pytest.mark.parametrize(
    ("one", "size"),
    [
        (Ground(("p",), "q"), 2),
        (Ground(("p", "q"), "r"), 3),
        (Ground(("p", "q"), "q"), 0),  # always true
        (Ground(("p", "p"), "q"), 2),
    ],
)
def test_how_many_variables_act_together(one: Ground, size: int) -> None:
    assert interaction_order(one) == size
