"""Information by hand and by a loop, and a step forward in two ways."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.chains.capacity import as_one, chain_step, flat_step, information


def test_information_of_states_that_remember_all_or_nothing() -> None:
    start = np.full(4, 0.25)
    assert information(start, np.roll(np.eye(4), 1, axis=1), np.eye(4)) == pytest.approx(2)
    assert information(start, np.full((4, 4), 0.25), np.eye(4)) == pytest.approx(0, abs=1e-12)
    blind = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]])  # pairs of states have equal emissions
    assert information(start, np.eye(4), blind) == pytest.approx(1)


def test_information_by_a_loop() -> None:
    rng = np.random.default_rng(2)
    start, move, show = rng.dirichlet([1, 1, 1]), *rng.dirichlet([1, 1, 1], (2, 3))
    p = np.zeros((3, 3, 3))
    for a, b, c, x, y in product(range(3), repeat=5):
        p[c, x, y] += start[a] * show[a, x] * move[a, b] * show[b, y] * move[b, c]
    past, now = p.sum(0), p.sum((1, 2))
    right = sum(
        p[c, x, y] * np.log2(p[c, x, y] / now[c] / past[x, y])
        for c, x, y in product(range(3), repeat=3)
    )
    assert information(start, move, show) == pytest.approx(right)


def test_a_step_of_two_chains() -> None:
    rng = np.random.default_rng(5)
    one, other, p = *rng.dirichlet([1, 1], (2, 2)), rng.dirichlet(np.ones(4)).reshape(2, 2)
    right = np.einsum("ab,ac,bd->cd", p, one, other)
    assert_allclose(chain_step(p, [one, other]).p, right)
    assert_allclose(flat_step(p, [one, other]).p, right)
    assert_allclose(as_one([one, other])[1, 2], one[0, 1] * other[1, 0])
    # As one: 16 products and 4 x 3 sums; separately: twice 8 products and 4 sums.
    assert flat_step(p, [one, other]).way.operations(4) == 28
    assert chain_step(p, [one, other]).way.operations(2) == 24
