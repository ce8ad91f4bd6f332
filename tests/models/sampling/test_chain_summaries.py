"""Summaries of chains against NumPy on each chain by itself."""

import numpy as np
from numpy.testing import assert_allclose

from models.sampling.chain_summaries import (
    autocorrelation,
    moments,
    parts_visited,
    squared_distance,
)

RNG = np.random.default_rng(3)


def test_moments_of_beginnings() -> None:
    w = RNG.standard_normal((30, 4, 2))
    mean, covariance = moments(w, [5, 30])
    for c in range(4):
        for k, n in enumerate((5, 30)):
            assert_allclose(mean[c, k], w[:n, c].mean(0))
            assert_allclose(covariance[c, k], np.cov(w[:n, c].T, bias=True), atol=1e-12)


def test_autocorrelation_of_an_autoregression() -> None:
    x = np.zeros((40_000, 1, 1))
    for s in range(1, len(x)):
        x[s] = 0.8 * x[s - 1] + RNG.standard_normal()
    assert_allclose(autocorrelation(x, [1, 3])[0, :, 0], [0.8, 0.8**3], atol=0.03)
    assert autocorrelation(x, []).shape == (1, 0, 1)


def test_parts_visited() -> None:
    means = np.array([[0.0, 0.0], [4.0, 0.0], [8.0, 0.0]])
    w = np.array([[[0.0, 0.0], [9.0, 1.0]], [[1.0, 0.0], [3.0, 1.0]]])  # (S, C, D)
    assert parts_visited(w, means).tolist() == [1, 2]


def test_squared_distance() -> None:
    w, mean, S = (
        RNG.standard_normal((5, 3, 2)),
        np.array([1.0, 2.0]),
        np.array([[2, 0.5], [0.5, 1]]),
    )
    expected = [[(x - mean) @ np.linalg.inv(S) @ (x - mean) for x in row] for row in w]
    assert_allclose(squared_distance(w, mean, S), expected)
