"""Maxima and samples of a tree against every setting visited."""

import numpy as np
import pytest
from graph_tables import STATES, drawn, visited
from numpy.testing import assert_allclose

from bythebook.models.graphs.factors import Factor
from bythebook.models.graphs.maxima import (
    chosen_apart,
    conditional_modes,
    predecessors,
    sampled,
    tied,
    traced,
)
from bythebook.models.graphs.propagation import factor_graph

TREE = ("ab", "bc", "bd", "dfe", "f")
NAMES = "abcdef"


def in_logs(factors: list[Factor]) -> list[Factor]:
    return [Factor(f.variables, np.log(f.table)) for f in factors]


@pytest.mark.parametrize("root", ["a", "d", "e"])
def test_the_trace_ends_at_the_one_maximum(root: str) -> None:
    factors = drawn(np.random.default_rng(1), *TREE)
    joint = visited(factors, NAMES)
    (found,) = traced(factor_graph(in_logs(factors)), root)
    assert tuple(found[n] for n in NAMES) == np.unravel_index(joint.argmax(), joint.shape)


@pytest.mark.parametrize("root", ["a", "b"])
def test_every_choice_among_equals_is_followed(root: str) -> None:
    rng = np.random.default_rng(2)
    factors = [
        Factor(tuple(s), rng.choice([1.0, 2.0], [STATES[n] for n in s])) for s in ("ab", "bc")
    ]
    joint = visited(factors, "abc")
    found = traced(factor_graph(in_logs(factors)), root)
    best = {tuple(map(int, at)) for at in np.argwhere(joint == joint.max())}
    assert len(best) > 1
    assert sorted(tuple(one[n] for n in "abc") for one in found) == sorted(best)


def test_predecessors_of_a_chain_lead_back_to_the_maximum() -> None:
    factors = drawn(np.random.default_rng(5), "ab", "bc")
    phi = predecessors(factor_graph(in_logs(factors)), "c")
    best = visited(factors, "abc").max(0)  # over a
    assert phi["b"].tolist() == best.argmax(0).tolist()
    assert phi["a"].tolist() == factors[0].table.argmax(0).tolist()


def test_samples_have_the_shares_of_the_joint() -> None:
    factors = drawn(np.random.default_rng(3), *TREE)
    joint = visited(factors, NAMES)
    found = sampled(factor_graph(factors), "b", 20_000, np.random.default_rng(4))
    for pair in ("ad", "ef", "ce"):
        axes = tuple(k for k, n in enumerate(NAMES) if n not in pair)
        right = joint.sum(axes) / joint.sum()
        shares = np.zeros(right.shape)
        np.add.at(shares, tuple(found[n] for n in pair), 1 / 20_000)
        assert_allclose(shares, right, atol=5 * 0.5 / np.sqrt(20_000))


def test_what_is_tied_and_what_is_chosen_apart() -> None:
    assert tied(np.array([[1.0, 3.0], [3.0, 2.0]])) == [(0, 1), (1, 0)]
    assert chosen_apart([np.array([1.0, 1.0]), np.array([0.0, 2.0])]) == [(0, 1), (1, 1)]


def test_conditional_modes_stop_where_no_single_change_helps() -> None:
    scores = np.array([[3.0, 0.0], [0.0, 5.0]])
    assert conditional_modes(scores, (0, 0)) == (0, 0)  # a maximum of each, not of both
    assert conditional_modes(scores, (0, 1)) == (1, 1)
