"""Test functions for filters: slopes by differences, and their documented properties."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.state_space.nonlinear_examples import (
    Mapping,
    exponential_mapping,
    growth_system,
    polar_mapping,
    random_lds,
    walker_system,
)
from bythebook.models.state_space.nonlinear_filters import NonlinearSystem
from bythebook.models.types import Floats


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
    assert_allclose(theta.A @ theta.A.T, 0.81 * np.eye(3), atol=1e-12)  # a turn that shrinks
    for S in (theta.Gamma, theta.Sigma, theta.V0):
        assert np.linalg.eigvalsh(S).min() >= 0.1


def test_the_growth_of_a_population_as_it_is_written() -> None:
    system = growth_system(10.0, 2.0)
    for n, z in ((1, 0.4), (3, -2.0), (7, 11.0)):
        at = np.array([z])
        grown = z / 2 + 25 * z / (1 + z * z) + 8 * math.cos(1.2 * n)
        assert_allclose(system.g(n, at), [grown], rtol=1e-14)
        assert_allclose(system.h(at), [z * z / 20], rtol=1e-14)
        _slopes(system, n, at)
    assert (system.Q.item(), system.R.item(), system.V0.item()) == (10.0, 2.0, 5.0)
    assert system.mu0.tolist() == [0.0]


def test_the_walker_and_the_beacons_as_they_are_written() -> None:
    system = walker_system(7.0, 0.3, 0.8, 0.15, 0.05)
    z = np.array([1.0, -2.0, 0.6, 1.3])
    moved = [1 + 1.3 * math.cos(0.6), -2 + 1.3 * math.sin(0.6), 0.6, 1.3]
    assert_allclose(system.g(4, z), moved, rtol=1e-14)
    beacons = [(0.0, 7.0), (-7 * 3**0.5 / 2, -3.5), (7 * 3**0.5 / 2, -3.5)]
    assert_allclose(system.h(z), [math.dist((1, -2), b) for b in beacons], rtol=1e-12)
    _slopes(system, 4, z)
    assert_allclose(system.Q, np.diag([0.02**2, 0.02**2, 0.15**2, 0.05**2]))
    assert_allclose(system.R, 0.09 * np.eye(3))
    assert_allclose(system.V0, np.diag([0.64, 0.64, 0.16, 0.01]))
    assert system.mu0.tolist() == [0.0, 0.0, 0.0, 1.0]
    usual = walker_system(7.0, 0.3, 0.8)
    assert_allclose(np.sqrt(np.diag(usual.Q)), [0.02, 0.02, 0.1, 0.02])


def _slopes(system: NonlinearSystem, n: int, at: Floats) -> None:
    """Both Jacobians by differences."""
    step = 1e-6
    for f, F in ((lambda z: system.g(n, z), system.G(n, at)), (system.h, system.H(at))):
        columns = [(f(at + step * e) - f(at - step * e)) / (2 * step) for e in np.eye(len(at))]
        assert_allclose(F, np.stack(columns, axis=-1), rtol=1e-6, atol=1e-7)


def test_a_batch_of_states_goes_through_row_by_row() -> None:
    rng = np.random.default_rng(6)
    z, population, polar = rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 5, 1)), polar_mapping()
    x = rng.normal(size=(2, 5, 2))
    assert_allclose(polar.f(x), [[polar.f(one) for one in row] for row in x], rtol=1e-14)
    for system, states in ((walker_system(7.0, 0.3, 0.8), z), (growth_system(10, 2), population)):
        of_step = [lambda at, f=f: f(3, at) for f in (system.g, system.G)]
        for f in (*of_step, system.h, system.H):
            expected = [[f(one) for one in row] for row in states]
            assert_allclose(f(states), expected, rtol=1e-14)


def test_what_goes_through_the_mappings() -> None:
    polar = polar_mapping()
    assert_allclose(polar.f(np.array([2.0, np.pi / 6])), [3**0.5, 1.0], rtol=1e-12)
    assert_allclose([*polar.mean, *polar.sd], [1, np.pi / 2, 0.02, np.pi / 12])
    bent = exponential_mapping(0.5)
    assert_allclose(bent.f(np.array([2.0])), [2 * (math.e - 1)], rtol=1e-12)
    assert (bent.mean.tolist(), bent.sd.tolist()) == ([0.0], [1.0])


def test_a_random_system_from_its_draws() -> None:
    """First the turn, then roots of three covariances, outputs and the first mean."""
    theta, rng = random_lds(np.random.default_rng(9)), np.random.default_rng(9)
    turn = np.linalg.qr(rng.standard_normal((3, 3))).Q
    roots = [rng.standard_normal((3, 3)) for _ in range(3)]
    assert_allclose(theta.A, 0.9 * turn, rtol=1e-12)
    for S, root in zip((theta.Gamma, theta.Sigma, theta.V0), roots, strict=True):
        assert_allclose(S, root @ root.T + np.diag([0.1] * 3), rtol=1e-12)
    assert_allclose(theta.C, rng.standard_normal((3, 3)))
    assert_allclose(theta.mu0, rng.standard_normal(3))
