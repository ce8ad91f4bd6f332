"""Functions to try filters on: slopes by differences, and what their docstrings say of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from models.state_space.nonlinear_examples import (
    Mapping,
    exponential_mapping,
    polar_mapping,
    random_lds,
)


@pytest.mark.parametrize(
    "mapping", [polar_mapping(), exponential_mapping(0.25), exponential_mapping(2.0)]
)
def test_slopes_are_those_of_differences(mapping: Mapping) -> None:
    step = 1e-5
    f, F, mean, _ = mapping
    for at in (mean, mean + 0.3):
        columns = [(f(at + step * e) - f(at - step * e)) / (2 * step) for e in np.eye(len(at))]
        assert_allclose(F(at), np.stack(columns, axis=-1), rtol=0, atol=1e-8)


def test_the_exponential_has_slope_one_and_bends_as_it_says() -> None:
    step = 1e-4
    for bend in (0.25, 2.0):
        f = exponential_mapping(bend).f
        low, middle, high = (f(np.array([x]))[0] for x in (-step, 0.0, step))
        assert_allclose((high - low) / (2 * step), 1, rtol=1e-6)
        assert_allclose((high - 2 * middle + low) / step**2, bend, rtol=1e-5)


def test_random_systems_are_stable_and_their_noise_is_positive() -> None:
    theta = random_lds(np.random.default_rng(0))
    assert np.abs(np.linalg.eigvals(theta.A)).max() < 1
    for S in (theta.Gamma, theta.Sigma, theta.V0):
        assert np.linalg.eigvalsh(S).min() >= 0.1
