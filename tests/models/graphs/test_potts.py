"""Samples of small lattices against all labellings; regions by hand; the transfer matrix."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bythebook.models.graphs.potts import (
    equal_share,
    region_sizes,
    sweep,
    sweep_spins,
)


def every(rows: int, columns: int, states: int) -> np.ndarray:
    return np.array(list(product(range(states), repeat=rows * columns))).reshape(-1, rows, columns)


def weights(labels: np.ndarray, J: float) -> np.ndarray:
    """By a loop over links."""
    found = []
    for y in labels:
        equal = sum(
            y[i, j] == y[a, b]
            for i, j in np.ndindex(y.shape)
            for a, b in ((i + 1, j), (i, j + 1))
            if a < y.shape[0] and b < y.shape[1]
        )
        found.append(np.exp(J * equal))
    return np.asarray(np.array(found) / np.sum(found))


@pytest.mark.parametrize("sampler", ["gibbs", "clusters"])
def test_samplers_visit_labellings_as_often_as_they_should(sampler: str) -> None:
    labels, chains = every(2, 2, 3), 20_000
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=(chains, 2, 2))
    sweep(y, 3, 0.8, sampler, 12, rng)
    number = y.reshape(-1, 4) @ [27, 9, 3, 1]
    p = weights(labels, 0.8)
    off = np.bincount(number, minlength=81) - chains * p
    assert np.sum(off**2 / (chains * p)) < 80 + 5 * np.sqrt(160)  # chi-squared


def test_spins_are_the_potts_model_of_two_labels() -> None:
    labels, chains = every(2, 3, 2), 40_000
    rng = np.random.default_rng(2)
    spins = rng.choice(np.array([-1, 1], dtype=np.int8), (chains, 2, 3))
    sweep_spins(spins, 0.35, 12, rng)
    number = ((spins.reshape(-1, 6) + 1) // 2) @ [32, 16, 8, 4, 2, 1]
    p = weights(labels, 0.7)  # exp(J y y') is exp(2 J [y = y']) up to a constant
    off = np.bincount(number, minlength=64) - chains * p
    assert np.sum(off**2 / (chains * p)) < 63 + 5 * np.sqrt(126)


def test_regions_are_connected_sites_of_one_label() -> None:
    labels = np.array([[[0, 0, 1], [1, 0, 1], [1, 1, 0]]])
    assert_array_equal(region_sizes(labels), [[[3, 3, 2], [3, 3, 2], [3, 3, 1]]])


def test_strong_links_make_one_region_from_any_start() -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(4, size=(1, 8, 8))
    sweep(y, 4, 8.0, "clusters", 200, rng)
    assert equal_share(y)[0] > 0.95
    labels = np.zeros((1, 8, 8), dtype=np.int64)
    sweep(labels, 4, 8.0, "gibbs", 3, rng)
    assert (labels == 0).all()
