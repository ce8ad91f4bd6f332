"""Messages on trees against every setting visited; on a loop against their series."""

import numpy as np
import pytest
from graph_tables import drawn, visited
from numpy.testing import assert_allclose

from bythebook.models.graphs.factors import MAX_PRODUCT, MIN_SUM, SUM_PRODUCT, Semiring
from bythebook.models.graphs.propagation import (
    factor_graph,
    marginal,
    one_by_one,
    roots,
    two_passes,
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


def test_messages_of_one_pass_come_before_those_of_the_other() -> None:
    graph = factor_graph(drawn(np.random.default_rng(2), *TREE))
    sent = list(two_passes(graph, "c"))
    inwards = sent[: len(sent) // 2]
    assert [(b, a) for a, b in inwards] == sent[: len(sent) // 2 - 1 : -1]
    assert inwards[-1][1] == "c"


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
