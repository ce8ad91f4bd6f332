"""Known dimensions, and joints that are the documented products."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.graphs.dimension import (
    Parametrised,
    boltzmann,
    dimension,
    full_covariance,
    low_rank_covariance,
    noisy_or,
    sigmoid,
    tables,
)

RNG = np.random.default_rng(0)


def test_numbers_that_do_the_same_count_once() -> None:
    assert dimension(Parametrised(3, lambda t: np.array([t[0] + t[1], t[2] ** 2])), RNG) == 2
    assert dimension(Parametrised(0, lambda t: t), RNG) == 0


@pytest.mark.parametrize("K", [2, 3])
def test_tables_multiply_to_the_joint(K: int) -> None:
    of = tables([[], [0], [0, 1]], K)
    assert of.numbers == K**3 - 1
    theta = RNG.standard_normal(of.numbers).astype(complex)
    p = of.family(theta).real.reshape(K, K, K)
    assert p.sum() == pytest.approx(1)
    first = np.exp(np.append(theta[: K - 1].real, 0))
    assert_allclose(p.sum((1, 2)), first / first.sum())
    assert dimension(of, RNG) == K**3 - 1


def test_a_tied_chain_has_one_table_for_all_its_steps() -> None:
    of = tables([[], [0], [1], [2]], 2, tied=True)
    assert of.numbers == 3
    p = of.family(RNG.standard_normal(3).astype(complex)).real.reshape(2, 2, 2, 2)
    steps = [p.sum((2, 3)), p.sum((0, 3)), p.sum((0, 1))]
    given = [step / step.sum(1, keepdims=True) for step in steps]
    assert_allclose(given[0], given[1])
    assert_allclose(given[1], given[2])


def test_a_sigmoid_and_a_field_by_hand() -> None:
    w = np.array([0.3, -1.0, 2.0], complex)
    x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert_allclose(sigmoid(2).family(w).real, 1 / (1 + np.exp(-0.3 - x @ [-1.0, 2.0])))
    p = boltzmann(2).family(np.array([0.5, 1.0, -1.0], complex)).real
    weights = np.exp([0, -1.0, 1.0, 0.5])
    assert_allclose(p, weights / weights.sum())
    assert boltzmann(3, biases=False).numbers == 3


def test_a_noisy_or_by_hand() -> None:
    mu = np.array([0.1, 0.6, 0.3])
    found = noisy_or(2).family(np.log(mu / (1 - mu)).astype(complex)).real
    assert_allclose(found, [0.1, 1 - 0.9 * 0.7, 1 - 0.9 * 0.4, 1 - 0.9 * 0.4 * 0.7])
    assert dimension(noisy_or(3), RNG) == 4


def test_rows_of_a_table_by_its_parents() -> None:
    # Three binary nodes, the last with both others as parents: rows 00, 01, 10, 11.
    theta = np.array([0.2, -0.3, 1.0, 2.0, 0.5, -1.0, -2.0])
    p = tables([[], [], [0, 1]], 2).family(theta[[0, 1, 3, 4, 5, 6]].astype(complex)).real
    p = p.reshape(2, 2, 2)
    given = p / p.sum(2, keepdims=True)
    assert_allclose(given[0, 1], np.exp([0.5, 0]) / np.exp([0.5, 0]).sum())
    assert_allclose(given[1, 0], np.exp([-1.0, 0]) / np.exp([-1.0, 0]).sum())


def test_covariances_by_hand() -> None:
    W, noise = RNG.standard_normal((4, 2)), np.array([0.5, 1.0, 1.5, 2.0])
    theta = np.concatenate([W.ravel(), noise]).astype(complex)
    found = low_rank_covariance(4, 2, isotropic=False).family(theta).real
    assert_allclose(found, W @ W.T + np.diag(noise))
    assert dimension(low_rank_covariance(4, 2, isotropic=True), RNG) == 8 + 1 - 1  # a rotation
    assert dimension(full_covariance(4), RNG) == 10
    L = np.array([[2.0, 0], [1.0, 3.0]])
    assert_allclose(full_covariance(2).family(L[np.tril_indices(2)].astype(complex)).real, L @ L.T)
