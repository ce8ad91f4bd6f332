"""Importance sampling: quadrature, plain loops and closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import norm

from bythebook.models.sampling.importance import (
    FUNCTIONS,
    contributing,
    log_ratio,
    named,
    normalised,
    proposal,
    resample,
    weigh,
)


@pytest.mark.parametrize("name", ["gaussian", "bumps 4"])
def test_what_is_known_of_targets(name: str) -> None:
    target = named(name)

    def total(f: object, low: float = -10.0, high: float = 15.0) -> float:
        return float(quad(lambda z: f(z) * np.exp(target.log_p(np.array(z))), low, high)[0])  # type: ignore[operator]

    assert_allclose(total(lambda _: 1), target.partition, rtol=1e-7)
    assert_allclose(total(lambda z: z**2) / target.partition, target.square, rtol=1e-7)
    assert_allclose(total(lambda _: 1, low=2.0) / target.partition, target.tail, rtol=1e-6)
    assert_allclose(total(lambda _: 1, high=0.7) / target.partition, target.cdf(np.array(0.7)))


def test_weights_by_a_loop() -> None:
    target, rng = named("bumps 3"), np.random.default_rng(0)
    z = 1 + 2 * rng.standard_normal(50)
    log_r = log_ratio(target, 1.0, 2.0, z)
    r = [np.exp(target.log_p(x)) / norm.pdf(x, 1, 2) for x in z]
    assert_allclose(np.exp(log_r), r, rtol=1e-9)
    w = np.array(r) / sum(r)
    estimates = weigh(target, log_r, z, ["square", "tail"])
    assert_allclose(normalised(log_r), w, rtol=1e-9)
    assert_allclose(estimates.normalised, [(w * z**2).sum(), (w * (z > 2)).sum()])
    expected = np.mean([r[i] * z[i] ** 2 for i in range(50)]) / target.partition
    assert_allclose(estimates.estimate[0], expected)
    assert_allclose(estimates.partition, np.mean(r))
    assert_allclose(estimates.effective_size, 1 / (w**2).sum())
    assert_allclose([estimates.largest_weight, estimates.plain[0]], [w.max(), np.mean(z**2)])
    scaled = np.array(r) / target.partition
    assert_allclose(
        [estimates.weight_sd, estimates.term_sd[0]], [scaled.std(), (scaled * z**2).std()]
    )
    assert FUNCTIONS["tail"][0](np.array([1.0, 3.0])).tolist() == [0, 1]


def test_resampling_follows_the_weights() -> None:
    z, u = np.tile([1.0, 2.0, 3.0], (2, 1)), np.random.default_rng(0).random((2, 3000))
    weights = np.array([[0.5, 0.0, 0.5], [0.1, 0.2, 0.7]])
    found = resample(z, weights, u)
    for row, w in zip(found, weights, strict=True):
        assert_allclose([(row == x).mean() for x in (1, 2, 3)], w, atol=0.03)


def test_uniform_samples_of_a_line() -> None:
    share = contributing(1, 40_000, 5, np.random.default_rng(0))
    assert_allclose(share, 2 * norm.ppf(0.95) / 12, rtol=0.03)
    assert contributing(4, 4000, 5, np.random.default_rng(0)).max() < 0.08


@pytest.mark.parametrize("name", ["gauss", "bumps", "bumps 0", "gaussian 2"])
def test_targets_that_are_none(name: str) -> None:
    with pytest.raises(ValueError, match="allowed"):
        named(name)


@pytest.mark.parametrize("name", ["1", "0 0", "a b", "1 2 3"])
def test_proposals_that_are_none(name: str) -> None:
    with pytest.raises(ValueError, match="allowed"):
        proposal(name)
