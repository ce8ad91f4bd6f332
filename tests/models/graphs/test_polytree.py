"""Lambda and pi messages against every setting visited."""

import numpy as np
import pytest
from graph_tables import STATES, visited
from numpy.testing import assert_allclose

from bythebook.models.graphs.factors import Factor, clamp
from bythebook.models.graphs.polytree import Network, propagate, reverberate


def tables() -> list[Factor]:
    """A and b are parents of c, which is one of e; e is also a child of f."""
    rng = np.random.default_rng(1)
    scopes = ("a", "b", "abc", "cd", "f", "cfe")
    return [
        Factor(tuple(s), rng.dirichlet(np.ones(STATES[s[-1]]), [STATES[n] for n in s[:-1]]))
        for s in scopes
    ]


@pytest.mark.parametrize("given", [{}, {"e": 1}, {"d": 2, "b": 0}, {"c": 1, "e": 0}])
def test_beliefs_are_the_posteriors(given: dict[str, int]) -> None:
    network = Network(tables(), given)
    messages = propagate(network)
    for name in "abcdef":
        right = visited(clamp(tables(), given), name)
        assert_allclose(network.belief(messages, name), right / right.sum(), atol=1e-12)


def test_parts_are_what_they_are_named() -> None:
    network = Network(tables(), {"d": 1, "f": 2})
    messages = propagate(network)
    upstream = visited(tables(), "c")
    assert_allclose(network.prior(messages, "c"), upstream / upstream.sum())
    d_given_c = tables()[3].table[:, 1]
    assert_allclose(network.likelihood(messages, "c"), d_given_c)  # e is constant
    assert_allclose(messages.prior["c", "e"], _shared(upstream * d_given_c))
    assert network.children("c") == ["d", "e"]
    assert ("f", "e") in network.links


def _shared(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum()


def test_echoes_of_one_link_by_hand() -> None:
    """a -> b, b seen: the likelihood comes back with every round, once as a and once as b."""
    p, q = np.array([0.5, 0.5]), np.array([[0.8, 0.2], [0.3, 0.7]])
    network = Network([Factor(("a",), p), Factor(("a", "b"), q)], {"b": 1})
    exact = network.belief(propagate(network), "a")
    assert_allclose(exact, _shared(q[:, 1]))
    once = network.belief(reverberate(network, 1), "a")
    assert_allclose(once, exact)  # the first round has received flat messages only
    twice = network.belief(reverberate(network, 2), "a")
    assert_allclose(twice, _shared(p * q[:, 1] * p))
    thrice = network.belief(reverberate(network, 3), "a")
    assert_allclose(thrice, _shared(q[:, 1] ** 2))
