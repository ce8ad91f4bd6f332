"""Messages on trees against every setting visited; on a loop against their series."""

import numpy as np
import pytest
from graph_tables import drawn, visited
from numpy.testing import assert_allclose

from bythebook.models.graphs.factors import MAX_PRODUCT, MIN_SUM, SUM_PRODUCT, Factor, Semiring
from bythebook.models.graphs.propagation import (
    at_once,
    factor_graph,
    factor_marginal,
    largest_change,
    marginal,
    one_by_one,
    roots,
    two_passes,
    unit,
    walk,
)

TREE = ("ab", "bc", "bd", "dfe", "f")
LOOP = ("ac", "ce", "ea")


@pytest.mark.parametrize("ring", [SUM_PRODUCT, MAX_PRODUCT, MIN_SUM])
@pytest.mark.parametrize("root", ["a", "d", 3])
def test_two_passes_give_every_marginal_of_a_tree(ring: Semiring, root: str | int) -> None:
    factors = drawn(np.random.default_rng(1), *TREE)
    graph = factor_graph(factors)
    assert graph.is_tree
    messages = two_passes(graph, root, ring)
    assert len(messages) == len(graph.links) == 2 * sum(len(f.variables) for f in factors)
    for name in "abcdef":
        assert_allclose(
            marginal(graph, messages, name, ring), visited(factors, name, ring), rtol=1e-12
        )
    for k, factor in enumerate(factors):
        found = factor_marginal(graph, messages, k, ring)
        assert found.variables == factor.variables
        assert_allclose(found.table, visited(factors, factor.variables, ring), rtol=1e-12)


def test_messages_of_one_pass_come_before_those_of_the_other() -> None:
    graph = factor_graph(drawn(np.random.default_rng(2), *TREE))
    sent = list(two_passes(graph, "c"))
    inwards = sent[: len(sent) // 2]
    assert [(b, a) for a, b in inwards] == sent[: len(sent) // 2 - 1 : -1]
    assert inwards[-1][1] == "c"


def test_messages_sent_at_once_settle_after_as_many_rounds_as_the_tree_is_long() -> None:
    factors = drawn(np.random.default_rng(3), "ab", "bc", "cd")
    graph = factor_graph(factors)
    exact = visited(factors, "d")
    messages, wrong = unit(graph), []
    for _ in range(7):
        found = marginal(graph, messages, "d")
        wrong.append(float(np.abs(found / found.sum() - exact / exact.sum()).max()) > 1e-12)
        messages = at_once(graph, messages)
    assert wrong == [True] * 5 + [False] * 2  # a leaf sends ones, which are right from the start
    assert largest_change(messages, at_once(graph, messages)) < 1e-15


def test_a_single_loop_settles_on_the_largest_eigenvector() -> None:
    """Round a ring a message is multiplied by the product of its tables (Weiss 2000)."""
    ac, ce, ea = (f.table for f in drawn(np.random.default_rng(4), *LOOP))
    graph = factor_graph([Factor(tuple(s), t) for s, t in zip(LOOP, (ac, ce, ea), strict=True)])
    assert not graph.is_tree
    messages = unit(graph)
    for _ in range(200):
        messages = at_once(graph, messages)
    around = ac @ ce @ ea
    values, left = np.linalg.eig(around.T)
    right = np.linalg.eig(around)[1][:, np.argmax(np.linalg.eig(around)[0])]
    belief = np.abs(left[:, np.argmax(values)] * right)
    found = marginal(graph, messages, "a")
    assert_allclose(found / found.sum(), belief / belief.sum(), rtol=1e-10)


def test_damping_keeps_its_share_and_the_same_answer() -> None:
    graph = factor_graph(drawn(np.random.default_rng(5), *LOOP))
    plain, damped = unit(graph), unit(graph)
    link = (0, "a")
    once, half = at_once(graph, plain), at_once(graph, plain, damping=0.25)
    assert_allclose(half[link], 0.25 * plain[link] + 0.75 * once[link])
    for _ in range(300):
        plain, damped = at_once(graph, plain), at_once(graph, damped, damping=0.5)
    assert_allclose(damped[link], plain[link], rtol=1e-10)


def test_a_walk_goes_to_the_nearest_first() -> None:
    graph = factor_graph(drawn(np.random.default_rng(6), "ab", "bc"))
    assert list(walk(graph, "a")) == [("a", None), (0, "a"), ("b", 0), (1, "b"), ("c", 1)]
    apart = factor_graph(drawn(np.random.default_rng(6), "ab", "cd", "dc"))
    assert not apart.is_tree
    assert (roots(apart), apart.loops) == (["a", "c"], 1)


@pytest.mark.parametrize("waiting", [True, False])
def test_pending_messages_run_out_on_a_tree(waiting: bool) -> None:
    factors = drawn(np.random.default_rng(7), *TREE)
    graph = factor_graph(factors)
    for seed in range(5):
        sent = one_by_one(graph, np.random.default_rng(seed), 500, waiting=waiting)
        assert sent.pending == 0
        assert min(sent.times.values()) == 1
        assert_allclose([message.sum() for message in sent.messages.values()], 1)
        if waiting:
            assert max(sent.times.values()) == 1
        for name in "abcdef":
            found, exact = marginal(graph, sent.messages, name), visited(factors, name)
            assert_allclose(found / found.sum(), exact / exact.sum())


def test_pending_messages_never_run_out_on_a_loop() -> None:
    graph = factor_graph(drawn(np.random.default_rng(8), *LOOP))
    sent = one_by_one(graph, np.random.default_rng(8), 60, waiting=False)
    assert sent.pending > 0
    assert sum(sent.times.values()) == 60
    assert not one_by_one(graph, np.random.default_rng(8), 60, waiting=True).messages


def test_messages_sent_at_once_sum_to_one() -> None:
    """The first of a factor sums its table over the other variable; those of variables are even."""
    factors = drawn(np.random.default_rng(9), *LOOP)
    graph = factor_graph(factors)
    messages = at_once(graph, unit(graph))
    for k, factor in enumerate(factors):
        table = factor.table / factor.table.sum()
        for axis, name in enumerate(factor.variables):
            assert_allclose(messages[k, name], table.sum(1 - axis), rtol=1e-12)
            assert_allclose(messages[name, k], 1 / table.shape[axis], rtol=1e-12)
    for _ in range(3):
        messages = at_once(graph, messages)
        assert_allclose([message.sum() for message in messages.values()], 1, rtol=1e-12)
