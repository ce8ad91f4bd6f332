"""Single settings against a visit of all settings, and widths against every order."""

from itertools import permutations, product

import numpy as np
import pytest
from graph_tables import STATES, drawn, visited

from bythebook.models.graphs.elimination import induced
from bythebook.models.graphs.estimates import estimates, summed_first_width
from bythebook.models.graphs.factors import Factor, scope
from bythebook.models.graphs.structure import Undirected, undirected

SCOPES = ("ab", "bc", "cd", "be")


@pytest.mark.parametrize("seed", range(5))
def test_settings_by_visiting_all(seed: int) -> None:
    factors = drawn(np.random.default_rng(seed), *SCOPES)
    found = estimates(factors, ["c", "a"])
    joint = visited(factors, "abcde")
    places = list(product(*(range(STATES[name]) for name in "abcde")))
    top = max(places, key=lambda at: joint[at])
    assert found.mpe == found.maxed == (top[2], top[0])
    pair = {(c, a): sum(joint[at] for at in places if at[2] == c and at[0] == a)
            for c in range(STATES["c"]) for a in range(STATES["a"])}  # fmt: skip
    assert found.map == max(pair, key=lambda at: pair[at])
    assert found.mpm == tuple(int(np.argmax(visited(factors, name))) for name in "ca")


def test_expected_errors_are_those_of_simulated_settings() -> None:
    found = estimates(drawn(np.random.default_rng(3), *SCOPES), ["c", "d"])
    rng = np.random.default_rng(1)
    at = rng.choice(found.p.size, 40_000, p=found.p.ravel())
    c, d = np.unravel_index(at, found.p.shape)
    assert found.wrong((1, 2)) == pytest.approx(np.mean(c != 1) + np.mean(d != 2), abs=0.02)


def test_ways_that_differ() -> None:
    # MLAPP 17.4.4.1: joint 0.04, 0.3; 0.36, 0.3 with X1 along columns.
    found = estimates([Factor(("x2", "x1"), np.array([[0.04, 0.3], [0.36, 0.3]]))], ["x1", "x2"])
    assert (found.map, found.mpm, found.maxed) == ((0, 1), (1, 1), (0, 1))
    assert found.wrong((0, 1)) == pytest.approx(0.94)


def widest(graph: Undirected, order: tuple[int, ...]) -> int:
    return max(len(clique) for clique in induced(graph, order).cliques) - 1


@pytest.mark.parametrize(
    "links",
    [[(0, 1), (1, 2), (0, 3), (1, 4), (2, 5)], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]],
)
def test_width_with_sums_first_by_all_orders(links: list[tuple[int, int]]) -> None:
    graph = undirected(6, links)
    orders = (
        (*first, *last) for first in permutations(range(3)) for last in permutations((3, 4, 5))
    )
    assert summed_first_width(graph, frozenset([3, 4, 5])) == min(
        widest(graph, order) for order in orders
    )


def test_scope_of_the_factors_is_kept() -> None:
    factors = drawn(np.random.default_rng(0), "ab")
    assert estimates(factors, scope(factors)).p.shape == (STATES["a"], STATES["b"])
