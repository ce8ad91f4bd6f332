"""The bootstrap filter against the exact Kalman filter, with standard errors from repetitions."""

import numpy as np
import pytest
from numpy.random import Generator
from numpy.testing import assert_allclose, assert_array_equal

from bythebook.models.state_space.kalman import LDS, kalman_filter, simulate
from bythebook.models.state_space.nonlinear_filters import linear_system, state_space
from bythebook.models.state_space.particle_filter import (
    StateSpace,
    bootstrap_filter,
    systematic_counts,
)
from bythebook.models.types import Floats

STEPS = 12


@pytest.fixture(scope="module")
def x(theta: LDS) -> Floats:
    return simulate(theta, STEPS, np.random.default_rng(0))[1]


@pytest.mark.parametrize(
    "W",
    [
        [0.125, 0.5, 0.0625, 0.3125],
        [0.0, 3.0, 0.0, 1.0, 0.0],  # no sum of one
        [0.25, 0.25, 0.25, 0.25],
        [1e-300, 1.0, 1e-17],
        [1.0],
    ],
)
def test_systematic_resampling_is_unbiased_over_every_offset(W: list[float]) -> None:
    """The counts change only where an interval ends on a point: the mean over u is a finite sum."""
    share = len(W) * np.array(W) / np.sum(W)
    ends = np.unique(np.concatenate([np.cumsum(share) % 1, [0.0, 1.0]]))
    counts = systematic_counts(np.array(W), (ends[1:] + ends[:-1]) / 2)
    assert_array_equal(counts.sum(-1), len(W))
    assert_allclose(np.diff(ends) @ counts, share, rtol=1e-12, atol=1e-12)
    assert np.all(np.abs(counts - share) <= 1)  # rounded up or down, no further


def test_counts_are_those_of_the_points_one_by_one() -> None:
    rng = np.random.default_rng(1)
    W, u = rng.dirichlet(np.full(9, 0.3), (2, 5)), rng.random((2, 5))
    counts = systematic_counts(W, u)
    for i in np.ndindex(2, 5):
        owners = [np.sum(np.cumsum(W[i]) <= (k + u[i]) / 9) for k in range(9)]
        assert_array_equal(counts[i], np.bincount(owners, minlength=9))


@pytest.mark.parametrize("u", [0.0, 1e-300, 0.3, np.nextafter(1, 0)])
def test_rounding_loses_no_particle(u: float) -> None:
    W = np.random.default_rng(8).gamma(0.1, size=(20, 10_007))
    counts = systematic_counts(np.concatenate([W, np.ones((1, 10_007))]), np.full(21, u))
    assert_array_equal(counts.sum(-1), 10_007)
    assert np.all(counts >= 0)


def test_equal_weights_are_left_alone_whatever_the_number() -> None:
    for L in (3, 10, 49, 1000, 100_003):
        assert_array_equal(systematic_counts(np.full(L, 1 / L), 0.5), 1)


@pytest.mark.parametrize("threshold", [0.5, 1.0])
def test_means_are_those_of_the_kalman_filter(theta: LDS, x: Floats, threshold: float) -> None:
    R, L = 60, 2000
    exact = kalman_filter(theta, x)
    model = state_space(linear_system(theta), x)
    found = bootstrap_filter(
        model, STEPS, L, np.random.default_rng(2), size=(R,), threshold=threshold
    )
    expected = {"mean": exact.filtered.mean, "log_c": exact.log_c}
    for name, value in expected.items():
        each = getattr(found, name)
        error = (each.mean(0) - value) / (each.std(0) / np.sqrt(R))
        assert np.abs(error).max() < 4.5, name  # of at most 24 numbers
        assert each.std(0).max() < 8 / np.sqrt(L), name
    assert np.all(found.ess >= 1)
    assert np.all(found.ess <= L * (1 + 1e-9))
    # The particles it ends with carry the last estimates.
    assert_allclose(found.W.sum(-1), 1, rtol=1e-12)
    assert_allclose(np.vecmat(found.W, found.z), found.mean[:, -1], rtol=1e-12)


@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.0])
def test_the_likelihood_is_estimated_without_bias(theta: LDS, x: Floats, threshold: float) -> None:
    """Also with 20 particles, where its logarithm is far too small."""
    R, steps = 4000, 6
    exact = kalman_filter(theta, x[:steps]).log_likelihood
    model = state_space(linear_system(theta), x[:steps])
    found = bootstrap_filter(
        model, steps, 20, np.random.default_rng(3), size=(R,), threshold=threshold
    )
    ratio = np.exp(found.log_likelihood - exact)
    assert abs(ratio.mean() - 1) < 4 * ratio.std() / np.sqrt(R)
    assert np.log(ratio).mean() < -0.1


def test_resampling_keeps_the_filter_alive(theta: LDS, x: Floats) -> None:
    rng = np.random.default_rng(4)
    model = state_space(linear_system(theta), x)
    without = bootstrap_filter(model, STEPS, 500, rng, size=(20,), threshold=0.0)
    assert np.all(without.ess[:, -1] < 100)
    with_it = bootstrap_filter(model, STEPS, 500, rng, size=(20,))
    assert with_it.ess[:, -1].mean() > 100


def still(log_p: Floats) -> StateSpace:
    """Particles that stay at 0, 1, ..., with given ln p(x_n | z), (steps, ..., L)."""

    def initial(shape: tuple[int, ...], rng: Generator) -> Floats:
        return np.broadcast_to(np.arange(float(shape[-1]))[:, np.newaxis], (*shape, 1)).copy()

    return StateSpace(initial, lambda n, z, rng: z, lambda n, z: log_p[n])


def test_weights_multiply_until_resampling_makes_them_equal() -> None:
    """Two filters of four particles by hand: the second never falls below the threshold."""
    p = np.array([[[1, 1, 1, 1e-9], [4, 3, 2, 1]], [[1, 1, 1, 1], [1, 1, 1, 1]]])
    p = np.concatenate([[[[8, 1e-9, 1e-9, 1e-9], [1, 1, 1, 1]]], p])
    found = bootstrap_filter(still(np.log(p)), 3, 4, np.random.default_rng(5), size=(2,))
    assert_array_equal(found.z[:, :, 0], [[0, 0, 0, 0], [0, 1, 2, 3]])
    assert_allclose(found.W[1], [0.4, 0.3, 0.2, 0.1], rtol=1e-12)
    assert_allclose(found.W[0], np.array([1, 1, 1, 1e-9]) / (3 + 1e-9), rtol=1e-12)
    assert_allclose(np.exp(found.log_c), [[2, 0.75, 1], [1, 2.5, 1]], rtol=1e-8)
    assert_allclose(found.mean[1, :, 0], [1.5, 1, 1], rtol=1e-12)
    assert_allclose(found.ess[1], [4, 1 / 0.3, 1 / 0.3], rtol=1e-12)


def test_a_filter_that_explains_nothing_is_lost_and_the_others_are_not() -> None:
    log_p = np.zeros((3, 2, 4))
    log_p[1, 0] = -np.inf
    found = bootstrap_filter(still(log_p), 3, 4, np.random.default_rng(6), size=(2,))
    assert_array_equal(found.log_likelihood, [-np.inf, 0])
    assert_array_equal(np.isnan(found.mean[..., 0]), [[False, True, True], [False] * 3])


def test_one_filter_is_a_batch_of_one(theta: LDS, x: Floats) -> None:
    model = state_space(linear_system(theta), x)
    alone = bootstrap_filter(model, STEPS, 50, np.random.default_rng(7))
    batch = bootstrap_filter(model, STEPS, 50, np.random.default_rng(7), size=(1,))
    assert alone.mean.shape == (STEPS, 2)
    for one, many in zip(alone, batch, strict=True):
        assert_allclose(one, many[0], rtol=1e-12)
