"""Small machines by hand and by loops; gradients by differences; links counted."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.graphs import boltzmann as bm

LINKS = np.array([(0, 1), (1, 2)])


def test_a_single_spin_and_a_pair_in_closed_form() -> None:
    y = bm.all_states(2)
    phi = bm.features(y, np.array([(0, 1)]))
    theta = np.array([0.4, 0.0, 0.0])
    assert bm.log_partition(theta, phi) == pytest.approx(np.log(4 * np.cosh(0.4)))
    assert bm.probabilities(theta, phi)[0] == pytest.approx(np.exp(0.4) / (4 * np.cosh(0.4)))
    assert bm.all_states(2, 0).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]


def test_features_are_links_then_spins() -> None:
    assert bm.features(np.array([1.0, -1.0, -1.0]), LINKS).tolist() == [-1, 1, 1, -1, -1]
    W = bm.weight_matrix(np.array([2.0, 3.0, 9.0, 9.0, 9.0]), LINKS, 3)
    assert W.tolist() == [[0, 2, 0], [2, 0, 3], [0, 3, 0]]


def test_the_gradient_by_differences() -> None:
    rng = np.random.default_rng(1)
    phi = bm.features(bm.all_states(3), LINKS)
    share, theta = rng.dirichlet(np.ones(8)), rng.standard_normal((4, 5))
    found = bm.gradient(theta, phi, share)
    for k, step in enumerate(1e-6 * np.eye(5)):
        up = bm.log_likelihood(theta + step, phi, share)
        down = bm.log_likelihood(theta - step, phi, share)
        assert_allclose(found[:, k], (up - down) / 2e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("shape", "spins", "links"),
    [("grid 3x4", 12, 17), ("cube 2x2x3", 12, 20), ("triangles 3x4", 12, 23), ("ring 9", 9, 9)],
)
def test_lattices_have_as_many_links_as_they_should(shape: str, spins: int, links: int) -> None:
    found = bm.named(shape)
    assert len(found) == links
    assert found.max() == spins - 1
    assert len({frozenset(pair) for pair in found.tolist()}) == links
