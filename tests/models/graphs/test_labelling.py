"""Labellings against enumeration, chains where messages are exact, and costs by loops."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bythebook.models.graphs import labelling as lab

K = 3
V = lab.quadratic_cost(K, 0.4, 1.5)


def costs(rows: int, columns: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).gamma(1.0, 1.5, (K, rows, columns))


def every(rows: int, columns: int) -> np.ndarray:
    return np.array(list(product(range(K), repeat=rows * columns))).reshape(-1, rows, columns)


def energy(y: np.ndarray, u: np.ndarray, V: np.ndarray) -> np.ndarray:
    """E(y) of labels (..., row, column)."""
    cost = sum(u[y[..., i, j], i, j] for i, j in np.ndindex(u.shape[1:]))
    down = V[y[..., 1:, :], y[..., :-1, :]].sum((-1, -2))
    return np.asarray(cost + down + V[y[..., 1:], y[..., :-1]].sum((-1, -2)))


def marginals(u: np.ndarray, V: np.ndarray) -> np.ndarray:
    y = every(*u.shape[1:])
    p = np.exp(-energy(y, u, V))
    return np.asarray(np.einsum("n,nkij->kij", p / p.sum(), lab.one_hot(y, K)))


def test_the_energy_pixel_by_pixel() -> None:
    u, y = costs(2, 3), np.array([[0, 2, 1], [1, 1, 0]])
    total = sum(u[y[at]][at] for at in np.ndindex(2, 3))
    pairs = [((0, 0), (0, 1)), ((0, 1), (0, 2)), ((1, 0), (1, 1)), ((1, 1), (1, 2))]
    pairs += [((0, j), (1, j)) for j in range(3)]
    total += sum(0.4 * min((y[a] - y[b]) ** 2, 2.25) for a, b in pairs)
    assert energy(y, u, V) == pytest.approx(total)


@pytest.mark.parametrize("shape", [(1, 5), (5, 1)])
def test_messages_are_exact_on_chains(shape: tuple[int, int]) -> None:
    u = costs(*shape)
    *_, cost = lab.messages(u, V, 6, soft=True)
    belief = np.exp(-cost) / np.exp(-cost).sum(0)
    assert_allclose(belief, marginals(u, V), atol=1e-10)
    *_, cost = lab.messages(u, V, 6, soft=False)
    y = every(*shape)
    best = y[energy(y, u, V).argmin()]
    assert_array_equal(cost.argmin(0), best)


def test_gibbs_sampling_comes_to_the_marginals() -> None:
    u = np.stack([costs(2, 2, seed) for seed in (2, 3)])
    found = lab.gibbs(u, V, 1500, 50, np.random.default_rng(4))
    for k in range(2):
        assert np.abs(found[k] - marginals(u[k], V)).max() < 0.08


def test_mean_fields_are_consistent_and_exact_without_links() -> None:
    u = costs(3, 3)
    alone = np.exp(-u) / np.exp(-u).sum(0)
    assert_allclose(lab.mean_field(u, 0 * V), alone, atol=1e-12)
    q = lab.mean_field(u, V, 200)
    again = np.exp(-lab.conditional_cost(q, u, V))
    assert_allclose(q, again / again.sum(0), atol=1e-9)


def test_modes_end_where_no_single_label_helps() -> None:
    u = costs(4, 4)
    y = lab.modes(u, V)
    level = energy(y, u, V)
    for at in np.ndindex(4, 4):
        for k in range(K):
            other = y.copy()
            other[at] = k
            assert energy(other, u, V) >= level - 1e-12


def test_damped_messages_come_to_the_same_on_a_chain() -> None:
    u = costs(1, 4)
    *_, cost = lab.messages(u, V, 80, soft=True, damping=0.5)
    belief = np.exp(-cost) / np.exp(-cost).sum(0)
    assert_allclose(belief, marginals(u, V), atol=1e-8)


def test_costs_and_regions() -> None:
    assert_array_equal(lab.potts_cost(2, 0.7), [[0, 0.7], [0.7, 0]])
    assert lab.quadratic_cost(4, 0.5)[0, 3] == pytest.approx(4.5)
    assert lab.quadratic_cost(4, 0.5, 2.0)[0, 3] == pytest.approx(2.0)
    image = lab.drawn_regions((12, 15), 3, 6, np.random.default_rng(5))
    assert image.shape == (12, 15)
    assert set(np.unique(image)) <= {0, 1, 2}
