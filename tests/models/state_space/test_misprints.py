"""The misprinted equations in one dimension, by hand."""

import numpy as np
from numpy.testing import assert_allclose

from models.state_space.kalman import LDS
from models.state_space.misprints import cross_covariance_errors, tangent_errors
from models.state_space.unscented import Scaling


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
    quiet = line(0.8, 0.5, 1.0, 1.0)._replace(Sigma=np.zeros((1, 1)))
    assert tangent_errors(quiet, np.random.default_rng(0)).printed < 1e-14
