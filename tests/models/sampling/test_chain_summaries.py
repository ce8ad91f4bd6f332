"""Summaries of chains against NumPy on each chain separately."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.models.sampling.chain_summaries import (
    autocorrelation,
    autocorrelation_time,
    known_autocorrelation,
    moments,
    parts_visited,
    scale_reduction,
    squared_distance,
    summaries,
)
from bythebook.models.sampling.metropolis import Chains, flat, sample

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


def test_autocorrelation_by_products() -> None:
    x = RNG.standard_normal((30, 4))
    found = known_autocorrelation(x)
    expected = [(x[: 30 - k] * x[k:]).mean() for k in range(30)]
    assert_allclose(found, expected, atol=1e-12)


def test_autocorrelation_times_of_geometric_correlations() -> None:
    lag = np.arange(400)
    for a in (0.9, 0.5, 0.0, -0.9):
        assert_allclose(autocorrelation_time(2 * a**lag), (1 + a) / (1 - a), atol=1e-9)
    short = np.array([1, 0.5, 0.25, 0.125, 0.0625])  # all pairs are positive, the fifth has none
    assert_allclose(autocorrelation_time(short), 2 * (1.5 + 0.375) - 1)
    noise = 0.9**lag + 0.001 * RNG.standard_normal(400)
    assert_allclose(autocorrelation_time(noise), 19, rtol=0.03)


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


def test_what_chains_tell_of_themselves() -> None:
    w = np.array([[[0.0, 0], [0, 0]], [[3, 4], [0, 0]], [[3, 4], [0, 1]], [[3, 4], [0, 2]]])
    accepted = np.array([[True, False], [False, True], [False, True]])
    proposed = np.where(accepted[..., None], w[1:], w[:-1] + 1)
    found = summaries(Chains(w, proposed, accepted), np.array([2, 4]), [1], lambda w: -w.sum(-1))
    assert found["rejected"].tolist() == [[0, 2], [1, 1]]
    assert found["step_length"].tolist() == [5 / 3, 2 / 3]
    assert found["squared_step"].tolist() == [25 / 3, 2 / 3]
    assert_allclose(found["chain_mean"][0], [[1.5, 2], [2.25, 3]])
    assert_allclose(found["chain_covariance"][1, 1], np.array([0, 0, 11 / 16]), atol=1e-12)
    # by hand: the first chain goes down by 7 and is held back twice at 2 lower
    assert found["downhill_proposed"].tolist() == [3, 3]
    assert found["downhill_accepted"].tolist() == [1, 2]
    expected = [np.exp(-7) + 2 * np.exp(-2), np.exp(-2) + 2 * np.exp(-1)]
    assert_allclose(found["downhill_ratio"], expected)
    refused = summaries(Chains(w, proposed, accepted), np.array([4]), [], lambda w: w.sum(-1))
    assert refused["downhill_ratio"].tolist() == [0, 0]


def test_beginnings_are_compared_by_their_scale_reduction() -> None:
    chains = sample(flat, np.zeros((5, 2)), 50, np.eye(2), np.random.default_rng(0))
    found = summaries(chains, np.array([10, 50]), [], flat)
    assert_allclose(found["scale_reduction"][0], scale_reduction(chains.w[:10]))


def test_scale_reduction_against_the_formula_in_words() -> None:
    rng = np.random.default_rng(0)
    w = rng.standard_normal((40, 5, 2)) + [0.0, 1.0] * np.arange(5)[:, None]
    n, m = 40, 5
    for d in range(2):
        means = [np.mean(w[:, c, d]) for c in range(m)]
        B = n / (m - 1) * sum((mean - np.mean(means)) ** 2 for mean in means)
        W = np.mean([stats.tvar(w[:, c, d]) for c in range(m)])
        expected = np.sqrt(((n - 1) / n * W + B / n) / W)
        assert_allclose(scale_reduction(w)[d], expected, rtol=1e-12)
    assert scale_reduction(w)[0] == pytest.approx(1, abs=0.1)
    assert scale_reduction(w)[1] > 1.5
