"""The misprinted equations in one dimension, by hand; noise by simulation."""

import numpy as np
from numpy.testing import assert_allclose

from bythebook.models.state_space.kalman import LDS, simulate
from bythebook.models.state_space.misprints import (
    cross_covariances,
    noise_from_outputs,
    output_covariances,
    powers,
    regression_gradients,
    tangents,
)
from bythebook.models.state_space.nonlinear_examples import random_lds
from bythebook.models.state_space.unscented import Scaling
from bythebook.models.types import Floats


def line(a: float, q: float, c: float, v: float) -> LDS:
    """A belief of variance v under z -> a z + N(0, q), seen as c z + noise."""
    one = np.eye(1)
    return LDS(a * one, q * one, c * one, 0.3 * one, np.zeros(1), v * one)


def test_the_covariance_of_state_and_output() -> None:
    """As printed, the points a v^1/2 are paired with (a^2 v + q)^1/2: their covariance should be
    c (a^2 v + q) and comes out smaller by the ratio of the two, with the sign of a.
    """
    a, q, c, v = -0.8, 0.5, 2.0, 1.5
    right, printed, corrected = cross_covariances(line(a, q, c, v), Scaling())
    assert_allclose(right, [[c * (a**2 * v + q)]], rtol=1e-12)
    assert_allclose(printed, right * a * np.sqrt(v) / np.sqrt(a**2 * v + q), rtol=1e-12)
    assert_allclose(corrected, right, rtol=1e-12)


def test_without_noise_and_turns_the_printed_covariance_is_right() -> None:
    right, printed, _ = cross_covariances(line(0.8, 0.0, 1.0, 1.0), Scaling())
    assert_allclose(printed, right, rtol=1e-12)


def test_the_tangent_of_the_measurement_model() -> None:
    """As printed it errs by c (y - z), which for c = 1 is the noise alone."""
    theta = line(-0.8, 0.5, 2.0, 1.5)._replace(mu0=np.array([3.0]))  # where nothing is 0
    right, printed, corrected = tangents(theta, np.random.default_rng(0), draws=50_000)
    assert_allclose(corrected, right, atol=1e-12)
    assert_allclose(right.mean(), 2 * -0.8 * 3, rtol=0.01)
    assert_allclose(right.var(), 4 * (0.64 * 1.5 + 0.5), rtol=0.03)
    # y - z is (c - 1) z + noise, and noise has variance 0.3
    assert_allclose(np.mean(printed - right), 2 * (2 - 1) * -0.8 * 3, rtol=0.01)
    assert_allclose(np.var(printed - right), 4 * (0.64 * 1.5 + 0.5 + 0.3), rtol=0.03)
    quiet = line(0.8, 0.5, 1.0, 1.0)._replace(Sigma=np.zeros((1, 1)))
    right, printed, _ = tangents(quiet, np.random.default_rng(0))
    assert_allclose(printed, right, atol=1e-14)


def test_powers_of_the_dynamics() -> None:
    """Without noise 3, 1.5, 0.75: as printed each is half of that."""
    theta = line(0.5, 0.5, 2.0, 1.5)._replace(mu0=np.array([3.0]))
    expected = [[3.0, 1.5, 0.75], [1.5, 0.75, 0.375], [3.0, 1.5, 0.75]]
    assert powers(theta, steps=3)[..., 0].tolist() == expected
    assert powers(theta).shape == (3, 20, 1)


def test_the_regression_of_a_state_on_the_one_before() -> None:
    """The slope of two steps against that of all, and the derivative between them by hand."""
    z = np.array([[1.0], [2.0], [1.0], [3.0], [0.5]])
    at_zero, printed, corrected = regression_gradients(line(0.5, 0.5, 2.0, 1.5), z)[:, 0, 0]
    past, xy = np.sum(z[:-1] ** 2), np.sum(z[:-1] * z[1:])
    slope = np.sum(z[:2] * z[1:3]) / np.sum(z[:2] ** 2)
    assert_allclose(at_zero, xy / 0.5, rtol=1e-12)
    assert_allclose(printed, (xy - slope * past) / 0.5, rtol=1e-12)
    assert abs(corrected) < 1e-13
    assert_allclose(regression_gradients(line(0.5, 0.5, 2.0, 1.5), z[:3])[1], 0, atol=1e-13)


def test_derivatives_by_differences() -> None:
    theta = random_lds(np.random.default_rng(3))
    z, _ = simulate(theta, 30, np.random.default_rng(4))

    def log_density(A: Floats) -> float:
        off = z[1:] - z[:-1] @ A.T
        return float(-0.5 * np.sum(off * np.linalg.solve(theta.Gamma, off.T).T))

    def derivatives(A: Floats) -> Floats:
        steps = 1e-4 * np.eye(9).reshape(9, 3, 3)
        slopes = [(log_density(A + s) - log_density(A - s)) / 2e-4 for s in steps]
        return np.reshape(slopes, (3, 3))

    two = np.linalg.lstsq(z[:2], z[1:3])[0].T
    expected = [derivatives(np.zeros((3, 3))), derivatives(two)]
    assert_allclose(regression_gradients(theta, z)[:2], expected, rtol=1e-5, atol=1e-5)


def test_the_noise_is_what_outputs_do_not_share() -> None:
    theta = random_lds(np.random.default_rng(1))
    found = output_covariances(theta)
    _, x = simulate(theta, 200_000, np.random.default_rng(2))
    for k in range(4):  # by simulation
        seen = x[k:].T @ x[: len(x) - k] / len(x)
        assert_allclose(seen, found[k], atol=0.03 * np.abs(found[0]).max())
    assert_allclose(noise_from_outputs(found, 3), theta.Sigma, rtol=1e-8)
