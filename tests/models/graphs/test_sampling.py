"""Samples against joint tables made by a loop, and weights by their definition."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chisquare

from bythebook.models.graphs.factors import Factor
from bythebook.models.graphs.sampling import (
    ancestral,
    logic,
    nodes,
    p_value,
    probability,
    uniform,
    weighted,
)
from bythebook.models.types import Floats

# a -> c <- b, c -> d; b has three states.
NETWORK = [
    Factor(("a",), np.array([0.3, 0.7])),
    Factor(("b",), np.array([0.2, 0.5, 0.3])),
    Factor(("b", "a", "c"), np.random.default_rng(1).dirichlet([1, 1], (3, 2))),
    Factor(("c", "d"), np.array([[0.9, 0.1], [0.25, 0.75]])),
]
COUNT = 40_000


def joint() -> Floats:
    p = np.empty((2, 3, 2, 2))
    for a, b, c, d in product(range(2), range(3), range(2), range(2)):
        tables = [t.table for t in NETWORK]
        p[a, b, c, d] = tables[0][a] * tables[1][b] * tables[2][b, a, c] * tables[3][c, d]
    return p


def test_ancestral_samples_have_the_joint() -> None:
    z = ancestral(NETWORK, COUNT, np.random.default_rng(2))
    shares = np.zeros((2, 3, 2, 2))
    np.add.at(shares, tuple(z.T), 1 / COUNT)
    assert_allclose(shares, joint(), atol=0.008)
    assert_allclose(probability(NETWORK, z), joint()[tuple(z.T)], rtol=1e-12)
    assert nodes(NETWORK) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("sampler", [weighted, uniform])
def test_weights_make_up_for_the_draw(sampler: object) -> None:
    assert callable(sampler)
    evidence = {"b": 2, "d": 1}
    z, r = sampler(NETWORK, evidence, COUNT, np.random.default_rng(3))
    assert set(z[:, 1]) == {2}
    assert set(z[:, 3]) == {1}
    right = joint()[:, 2, :, 1]
    for a, c in product(range(2), range(2)):
        here = np.where((z[:, 0] == a) & (z[:, 2] == c), r, 0)
        assert here.mean() == pytest.approx(right[a, c], abs=5 * here.std() / COUNT**0.5)


def test_a_weight_by_hand() -> None:
    z, r = weighted(NETWORK, {"b": 2, "d": 1}, 50, np.random.default_rng(3))
    assert_allclose(r, 0.3 * np.where(z[:, 2] == 0, 0.1, 0.75))


def test_logic_sampling_stops_at_the_first_contradiction() -> None:
    z = np.array([[0, 0, 1, 1], [1, 2, 1, 1], [1, 2, 0, 1], [1, 0, 0, 0]])
    found = logic(NETWORK, {"b": 2, "c": 1}, z)
    assert found.kept.tolist() == [False, True, False, False]
    assert found.drawn.tolist() == [2, 4, 3, 2]


def test_p_values() -> None:
    p = np.array([0.5, 0.3, 0.2])
    counts = np.array([40, 35, 25])
    assert p_value(counts, p) == pytest.approx(chisquare(counts, 100 * p).pvalue)
    # Cells of 1.5 and 0.5 are too rare even together, and go with the one of 8.
    rare = p_value(np.array([90, 7, 2, 1]), np.array([0.9, 0.08, 0.015, 0.005]))
    assert rare == pytest.approx(chisquare([90, 10], [90, 10]).pvalue)
    # Of 3, 3 and 94: the first two together.
    pair = p_value(np.array([1, 9, 90]), np.array([0.03, 0.03, 0.94]))
    assert pair == pytest.approx(chisquare([10, 90], [6, 94]).pvalue)
    # Five are not rare: cells of 5, 5, 8.75 and 61.25 are not merged.
    apart = p_value(np.array([9, 2, 6, 63]), np.array([4, 4, 7, 49]) / 64)
    assert apart == pytest.approx(chisquare([9, 2, 6, 63], [5, 5, 8.75, 61.25]).pvalue)
    assert p_value(np.array([1, 0, 0]), p) == 1
