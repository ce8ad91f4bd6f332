"""The filter on a grid against the Kalman filter, where both are exact."""

from collections.abc import Callable

import numpy as np
from numpy.testing import assert_allclose

from bythebook.models.probability.gaussian import log_density_1d
from bythebook.models.state_space.grid_filter import GridFiltered, grid_filter
from bythebook.models.state_space.kalman import LDS, kalman_filter, simulate
from bythebook.models.state_space.nonlinear_filters import linear_system, state_space
from bythebook.models.types import Floats

Weight = Callable[[int, Floats], Floats]
ONE = np.eye(1)
THETA = LDS(0.8 * ONE, 0.5 * ONE, 1.5 * ONE, 0.4 * ONE, np.array([0.3]), 2 * ONE)


def weight(x: Floats) -> Weight:
    return state_space(linear_system(THETA), x).log_weight


def on_grid(log_weight: Weight, n_steps: int, points: Floats) -> GridFiltered:
    return grid_filter(
        points,
        prior=np.exp(log_density_1d(points, 0.3, 2.0)),
        transition=lambda n, z, before: np.exp(log_density_1d(z, 0.8 * before, 0.5)),
        log_weight=log_weight,
        n_steps=n_steps,
    )


def test_a_linear_system_is_that_of_the_kalman_filter() -> None:
    _, x = simulate(THETA, 15, np.random.default_rng(0))
    exact, found = kalman_filter(THETA, x), on_grid(weight(x), 15, np.linspace(-13, 13, 301))
    assert_allclose(found.mean, exact.filtered.mean[:, 0], rtol=0, atol=1e-12)
    assert_allclose(found.variance, exact.filtered.cov[:, 0, 0], rtol=1e-11)
    assert_allclose(found.log_c, exact.log_c, rtol=0, atol=1e-11)
    entropy = 0.5 * np.log(2 * np.pi * np.e * exact.filtered.cov[:, 0, 0])
    assert_allclose(found.log_score, -entropy, rtol=0, atol=1e-11)
    assert_allclose(found.density.sum(-1) * 26 / 300, 1, rtol=1e-13)


def test_a_coarse_grid_is_found_out() -> None:
    """The sum needs steps smaller than the narrowest density."""
    _, x = simulate(THETA, 15, np.random.default_rng(0))
    exact, found = kalman_filter(THETA, x), on_grid(weight(x), 15, np.linspace(-13, 13, 12))
    assert np.abs(found.mean - exact.filtered.mean[:, 0]).max() > 1e-2


def test_series_are_filtered_side_by_side() -> None:
    _, x = simulate(THETA, 6, np.random.default_rng(1), (3,))
    points = np.linspace(-13, 13, 201)

    many = on_grid(lambda n, z: log_density_1d(x[:, n], 1.5 * z[:, 0], 0.4), 6, points)
    assert many.density.shape == (3, 6, 201)
    for k in range(3):
        alone = on_grid(weight(x[k]), 6, points)
        assert_allclose(many.mean[k], alone.mean, rtol=0, atol=1e-12)
        assert_allclose(many.log_likelihood[k], alone.log_likelihood, rtol=1e-12)


def test_data_that_no_double_can_weigh_do_no_harm() -> None:
    """A data point of weight e^-2000 everywhere leaves the belief unchanged; its log is -2000."""
    x = simulate(THETA, 3, np.random.default_rng(2))[1]
    points = np.linspace(-13, 13, 301)
    right = on_grid(weight(x), 3, points)
    found = on_grid(lambda n, z: weight(x)(n, z) - 2000, 3, points)
    assert_allclose(found.density, right.density, rtol=1e-9)
    assert_allclose(found.log_c, right.log_c - 2000, rtol=1e-12)


def test_beliefs_by_hand() -> None:
    """A Gaussian is no nats from itself and has one mode; two far apart are ln 2 below their own.

    Of two unit Gaussians at -m and m the entropy is that of one plus ln 2, and the variance
    1 + m^2: the divergence is ln(1 + m^2) / 2 - ln 2.
    """
    points, m = np.linspace(-30, 30, 2001), 10.0
    one = np.exp(log_density_1d(points, 1.0, 2.0))
    two = (np.exp(log_density_1d(points, -m, 1.0)) + np.exp(log_density_1d(points, m, 1.0))) / 2
    small = 0.95 * np.exp(log_density_1d(points, -m, 1.0))
    small += 0.05 * np.exp(log_density_1d(points, m, 1.0))  # its peak is below a tenth
    beliefs = GridFiltered(points, np.stack([one, two, small]), np.zeros(3))
    assert beliefs.modes.tolist() == [1, 2, 1]
    right = [0, 0.5 * np.log(1 + m**2) - np.log(2)]
    assert_allclose(beliefs.nats_from_gaussian[:2], right, rtol=0, atol=1e-9)


def test_a_flat_top_is_one_maximum_and_an_end_is_none() -> None:
    p = np.array([[0.0, 1.0, 1.0, 0.0, 0.5, 0.0], [3.0, 1.0, 2.0, 2.0, 2.0, 1.0]])
    p = np.concatenate([p, [[0.0, 1.0, 0.0, 0.1, 0.0, 0.2]]])  # no more than a tenth does not count
    p = np.concatenate([p, [[0.0, 1.0, 0.0, 0.11, 0.0, 0.2]]])  # more does
    assert GridFiltered(np.arange(6.0), p, np.zeros(4)).modes.tolist() == [2, 1, 1, 2]
