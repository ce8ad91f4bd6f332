"""The misprinted equations in one dimension, by hand; noise by simulation."""

import numpy as np
from numpy.testing import assert_allclose

from models.state_space.kalman import LDS, simulate
from models.state_space.misprints import (
    cross_covariance_errors,
    largest_correlation,
    noise_from_outputs,
    output_covariances,
    power_errors,
    regression_gradients,
    tangent_errors,
)
from models.state_space.nonlinear_examples import random_lds
from models.state_space.unscented import Scaling
from models.types import Floats


def line(a: float, q: float, c: float, v: float) -> LDS:
    """A belief of variance v under z -> a z + N(0, q), seen as c z + noise."""
    one = np.eye(1)
    return LDS(a * one, q * one, c * one, 0.3 * one, np.zeros(1), v * one)


def test_the_covariance_of_state_and_output() -> None:
    """As printed, the points a v^1/2 are paired with (a^2 v + q)^1/2: their covariance should be
    c (a^2 v + q) and comes out smaller by the ratio of the two, with the sign of a.
    """
    a, q, v = -0.8, 0.5, 1.5
    printed, corrected = cross_covariance_errors(line(a, q, 2.0, v), Scaling())
    assert_allclose(printed, 1 - a * np.sqrt(v) / np.sqrt(a**2 * v + q), rtol=1e-12)
    assert corrected < 1e-14


def test_without_noise_and_turns_the_printed_covariance_is_right() -> None:
    assert cross_covariance_errors(line(0.8, 0.0, 1.0, 1.0), Scaling()).printed < 1e-14


def test_the_tangent_of_the_measurement_model() -> None:
    """As printed it errs by c (y - z), which for c = 1 is the noise alone."""
    printed, corrected = tangent_errors(line(-0.8, 0.5, 2.0, 1.5), np.random.default_rng(0))
    assert printed > 0.1
    assert corrected < 1e-13
    away = line(-0.8, 0.5, 2.0, 1.5)._replace(mu0=np.array([3.0]))  # a tangent where nothing is 0
    assert tangent_errors(away, np.random.default_rng(0)).corrected < 1e-13
    quiet = line(0.8, 0.5, 1.0, 1.0)._replace(Sigma=np.zeros((1, 1)))
    assert tangent_errors(quiet, np.random.default_rng(0)).printed < 1e-14


def test_powers_of_the_dynamics() -> None:
    """Without noise 3, 1.5, 0.75: as printed each is half of that, at first by 1.5."""
    theta = line(0.5, 0.5, 2.0, 1.5)._replace(mu0=np.array([3.0]))
    printed, corrected = power_errors(theta)
    assert_allclose(printed, 1.5, rtol=1e-15)
    assert corrected < 1e-15


def test_the_regression_of_a_state_on_the_one_before() -> None:
    """The slope of two steps against that of all, and the derivative between them by hand."""
    z = np.array([[1.0], [2.0], [1.0], [3.0], [0.5]])
    printed, corrected = regression_gradients(line(0.5, 0.5, 2.0, 1.5), z)
    past, xy = np.sum(z[:-1] ** 2), np.sum(z[:-1] * z[1:])
    slope = np.sum(z[:2] * z[1:3]) / np.sum(z[:2] ** 2)
    assert_allclose(printed, abs(xy - slope * past) / xy, rtol=1e-12)
    assert corrected < 1e-15
    assert_allclose(regression_gradients(line(0.5, 0.5, 2.0, 1.5), z[:3]).printed, 0, atol=1e-15)


def test_the_largest_derivative_by_differences() -> None:
    theta = random_lds(np.random.default_rng(3))
    z, _ = simulate(theta, 30, np.random.default_rng(4))

    def log_density(A: Floats) -> float:
        off = z[1:] - z[:-1] @ A.T
        return float(-0.5 * np.sum(off * np.linalg.solve(theta.Gamma, off.T).T))

    def largest(A: Floats) -> float:
        steps = 1e-4 * np.eye(9).reshape(9, 3, 3)
        return max(abs(log_density(A + s) - log_density(A - s)) / 2e-4 for s in steps)

    two = np.linalg.lstsq(z[:2], z[1:3])[0].T
    expected = largest(two) / largest(np.zeros((3, 3)))
    assert_allclose(regression_gradients(theta, z).printed, expected, rtol=1e-6)


def test_the_noise_is_what_outputs_do_not_share() -> None:
    theta = random_lds(np.random.default_rng(1))
    found = output_covariances(theta)
    _, x = simulate(theta, 200_000, np.random.default_rng(2))
    for k in range(4):  # by simulation
        seen = x[k:].T @ x[: len(x) - k] / len(x)
        assert_allclose(seen, found[k], atol=0.03 * np.abs(found[0]).max())
    assert_allclose(noise_from_outputs(found, 3), theta.Sigma, rtol=1e-8)
    quiet = theta._replace(Sigma=np.diag([1.0, 2.0, 3.0]))
    assert largest_correlation(noise_from_outputs(output_covariances(quiet), 3)) < 1e-9


def test_largest_correlation() -> None:
    assert_allclose(largest_correlation(np.array([[4.0, -3.0], [-3.0, 9.0]])), 0.5, rtol=1e-15)


def test_powers_of_dynamics_that_grow_are_furthest_off_at_the_end() -> None:
    """1, 2, 4 and 8, but 2, 4, 8 and 16 as printed."""
    theta = line(2.0, 0.5, 2.0, 1.5)._replace(mu0=np.array([1.0]))
    assert power_errors(theta, steps=4) == (8.0, 0.0)
    assert power_errors(theta, steps=1) == (1.0, 0.0)
