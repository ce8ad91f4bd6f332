"""Memories as whole matrices; fits against an optimiser; completion step by step."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from bythebook.models.graphs import boltzmann, hopfield


def patterns(P: int, N: int) -> np.ndarray:
    return np.random.default_rng(1).choice([-1.0, 1.0], (P, N))


def matrix(memory: hopfield.Memory) -> np.ndarray:
    W = memory.left.T @ memory.right
    W = W + W.T
    return np.asarray(W - np.diag(W.diagonal()))


def test_field_and_energy_are_those_of_the_whole_matrix() -> None:
    rng = np.random.default_rng(2)
    left, right = rng.standard_normal((2, 3, 6))
    memory = hopfield.Memory(left, right, rng.standard_normal(6))
    y, W = patterns(4, 6), matrix(memory)
    assert_allclose(memory.field(y), y @ W + memory.bias, rtol=1e-12)
    by_hand = [-0.5 * one @ W @ one - memory.bias @ one for one in y]
    assert_allclose(memory.energy(y), by_hand, rtol=1e-12)


def test_the_outer_product_rule() -> None:
    Y = patterns(3, 5)
    W = Y.T @ Y / 5
    np.fill_diagonal(W, 0)
    assert_allclose(matrix(hopfield.outer_product(Y)), W, atol=1e-15)


def test_likelihood_against_an_optimiser() -> None:
    Y, links = patterns(3, 4), np.column_stack(np.triu_indices(4, 1))
    phi = boltzmann.features(boltzmann.all_states(4), links)
    mean = boltzmann.features(Y, links).mean(0)

    def loss(t: np.ndarray) -> float:
        return float(boltzmann.log_partition(t, phi) - mean @ t + 0.1 * t @ t / 2)

    best = minimize(loss, np.zeros(10)).x
    memory = hopfield.by_likelihood(Y, 0.1)
    assert_allclose(matrix(memory), boltzmann.weight_matrix(best, links, 4), atol=1e-4)
    assert_allclose(memory.bias, best[6:], atol=1e-4)


def test_pseudo_likelihood_comes_to_a_stationary_point() -> None:
    Y, ridge = patterns(2, 6), 0.05
    memory = hopfield.by_pseudo_likelihood(Y, 4000, ridge)
    miss = 2 / (1 + np.exp(2 * Y * memory.field(Y)))
    assert_allclose(miss * Y / 2 / 6, ridge * memory.left, atol=1e-8)
    assert_allclose((miss * Y / 2).sum(0) / 6, ridge * memory.bias, atol=1e-8)


def test_completion_is_unit_by_unit_and_leaves_what_is_seen() -> None:
    Y = patterns(2, 30)
    memory = hopfield.outer_product(Y)
    hidden = np.arange(30) < 12
    start = np.where(hidden, -1.0, Y[0])
    path = hopfield.completed(memory, start, hidden)
    W, y = matrix(memory), start.copy()
    for s in np.flatnonzero(hidden):  # the first sweep by the whole matrix
        pull = W[s] @ y
        y[s] = y[s] if pull == 0 else np.sign(pull)
    assert_array_equal(path[1], y)
    assert_array_equal(path[-1], Y[0])
    assert_array_equal(path[-1], path[-2])
    assert np.diff([memory.energy(one) for one in path]).max() <= 1e-12


def test_a_kept_pattern_stays() -> None:
    Y = patterns(2, 40)
    memory = hopfield.by_pseudo_likelihood(Y, 60, 0.01)
    found = hopfield.completed(memory, Y[1], np.ones(40, dtype=bool))
    assert len(found) == 2
    assert_array_equal(found[-1], Y[1])
    assert memory.energy(Y[1]) == pytest.approx(float(memory.energy(Y)[1]))


@pytest.mark.parametrize("ridge", [0.003, 0.1, 3.0])
def test_likelihood_comes_to_a_stationary_point(ridge: float) -> None:
    """Moments of the patterns less those of all states are the ridge times the weights."""
    Y, states = patterns(3, 4), np.array(list(product([-1.0, 1.0], repeat=4)))
    memory = hopfield.by_likelihood(Y, ridge)
    W = matrix(memory)
    p = np.exp([0.5 * y @ W @ y + memory.bias @ y for y in states])
    p /= p.sum()
    off = Y.T @ Y / 3 - (states.T * p) @ states
    np.fill_diagonal(off, 0)
    assert_allclose(off, ridge * W, rtol=0, atol=1e-9)
    assert_allclose(Y.mean(0) - p @ states, ridge * memory.bias, rtol=0, atol=1e-9)
