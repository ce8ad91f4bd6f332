"""Dependence by hand, and joints that factorise as their graph says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.graphs.independence import (
    dependence,
    directed_joint,
    spread_of_conditional,
    undirected_joint,
)
from bythebook.models.graphs.structure import dag, undirected

A, B, C = frozenset([0]), frozenset([1]), frozenset([2])
NONE: frozenset[int] = frozenset()


def test_two_variables_by_hand() -> None:
    joint = np.array([[0.4, 0.1], [0.2, 0.3]])  # 0.4 against 0.5 x 0.6
    assert dependence(joint, A, B, NONE) == pytest.approx(0.1)
    assert dependence(np.outer([0.3, 0.7], [0.2, 0.8]), A, B, NONE) < 1e-15


def test_given_a_third_each_slice_counts_by_itself() -> None:
    slices = [np.outer([0.3, 0.7], [0.2, 0.8]), np.array([[0.5, 0.0], [0.0, 0.5]])]
    joint = np.stack([0.9 * slices[0], 0.1 * slices[1]], axis=-1)
    assert dependence(joint, A, B, C) == pytest.approx(0.25)
    assert dependence(joint, A, B, NONE) == pytest.approx(
        np.abs(joint.sum(2) - np.outer(joint.sum((1, 2)), joint.sum((0, 2)))).max()
    )


def test_sets_of_variables() -> None:
    joint = np.einsum("a,bc->abc", [0.5, 0.5], [[0.4, 0.1], [0.2, 0.3]])
    assert dependence(joint, A, B | C, NONE) < 1e-15
    assert dependence(joint, B, A | C, NONE) == pytest.approx(0.05)


def test_what_a_conditional_depends_on() -> None:
    """p(a | b, c) = p(a | b) for a chain a - b - c."""
    joint = np.einsum(
        "a,ab,bc->abc", [0.3, 0.7], [[0.9, 0.1], [0.4, 0.6]], [[0.5, 0.5], [0.1, 0.9]]
    )
    assert spread_of_conditional(joint, 0, C).max() < 1e-15
    of_a = joint.sum(2) / joint.sum((0, 2))
    assert spread_of_conditional(joint, 0, B).max() == pytest.approx(np.ptp(of_a, axis=1).max())
    assert spread_of_conditional(joint, 0, NONE).max() == 0


def test_the_spread_of_a_conditional_by_hand() -> None:
    """Of p(a | b) = 2/3, 1/3 or 1/4, 3/4, and of p(b | a) = 4/5, 1/5 or 2/5, 3/5."""
    joint = np.array([[0.4, 0.1], [0.2, 0.3]])
    assert_allclose(spread_of_conditional(joint, 0, B), [5 / 12, 5 / 12], rtol=1e-14)
    assert_allclose(spread_of_conditional(joint, 1, A), [2 / 5, 2 / 5], rtol=1e-14)


def test_a_directed_joint_is_the_product_of_its_conditionals() -> None:
    joint = directed_joint(dag(3, [(0, 2), (1, 2)]), 3, np.random.default_rng(1))
    assert joint.sum() == pytest.approx(1)
    assert dependence(joint, A, B, NONE) < 1e-15 < dependence(joint, A, B, C)


def test_an_undirected_joint_is_a_product_over_cliques() -> None:
    chain = undirected(3, [(0, 2), (2, 1)])
    joint = undirected_joint(chain, 2, np.random.default_rng(2))
    assert joint.sum() == pytest.approx(1)
    ratio = joint[0, 0] * joint[1, 1] / (joint[0, 1] * joint[1, 0])
    assert_allclose(ratio, 1)  # no interaction of 0 and 1 given 2
    assert dependence(joint, A, B, NONE) > 1e-4


def test_conditions_that_cannot_happen_ask_nothing() -> None:
    joint = np.zeros((2, 2, 2))
    joint[0, 0, 0] = joint[1, 1, 0] = 0.5
    sets = frozenset([0]), frozenset([1])
    assert dependence(joint, *sets, frozenset([2])) == pytest.approx(0.25)
