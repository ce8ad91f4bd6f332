"""Targets: draws against densities, gradients by differences, conditionals against the joint."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.sampling.targets import correlated, named
from bythebook.models.sampling.uniformity import all_even, independent

NAMES = ["gaussian 1 3", "gaussian 2", "turned 1 4", "correlated 0.9", "bumps 2"]
SQUARES = ["two squares", "two squares turned"]


@pytest.mark.parametrize("name", [*NAMES, *SQUARES])
def test_draws_become_uniform_and_have_unit_principal_moments(name: str) -> None:
    target = named(name)
    z = target.draw(4000, np.random.default_rng(3))
    assert z.shape == (4000, target.dimension)
    u = target.uniforms(z)
    assert all_even(u) > 0.001
    if target.dimension == 2:
        assert independent(*u.T) > 0.001
    assert_allclose((target.principal(z) ** 2).mean(0), 1, atol=0.1)
    assert all_even(target.uniforms(1.1 * z)) < 0.001  # the test would notice


@pytest.mark.parametrize("name", NAMES)
def test_gradients_by_differences(name: str) -> None:
    target = named(name)
    z = target.draw(5, np.random.default_rng(0))
    assert target.gradient is not None
    for i, shift in enumerate(1e-6 * np.eye(target.dimension)):
        slope = (target.log_p(z + shift) - target.log_p(z - shift)) / 2e-6
        assert_allclose(target.gradient(z)[:, i], slope, atol=1e-6)


def test_a_correlated_gaussian_has_its_covariance() -> None:
    z = correlated(0.8).draw(50_000, np.random.default_rng(0))
    assert_allclose(np.cov(z.T), [[1, 0.8], [0.8, 1]], atol=0.03)


@pytest.mark.parametrize("name", [*[n for n in NAMES if n != "bumps 2"], *SQUARES])
def test_a_component_redrawn_leaves_the_target(name: str) -> None:
    target, rng = named(name), np.random.default_rng(1)
    z = target.draw(4000, rng)
    assert target.resample is not None
    for i in range(target.dimension):
        z[:, i] = target.resample(z, i, np.full(4000, -0.4), rng)
        assert all_even(target.uniforms(z)) > 0.001
        assert np.isfinite(target.log_p(z)).all()


def test_conditionals_of_a_gaussian() -> None:
    target, rng = correlated(0.8), np.random.default_rng(0)
    assert target.resample is not None
    z = np.tile([3.0, 1.5], (20_000, 1))
    new = target.resample(z, 0, np.zeros(20_000), rng)
    assert_allclose([new.mean(), new.var()], [1.2, 0.36], atol=0.03)
    kept = target.resample(z, 0, np.full(20_000, 0.5), rng)
    assert_allclose([kept.mean(), kept.var()], [1.2 + 0.9, 0.36 * 0.75], atol=0.03)


def test_squares_have_nothing_between_them() -> None:
    for name, points in (("two squares", [[0.5, 0.5], [2.5, 2.1], [1.5, 1.5], [0.5, 2.5]]),):
        assert np.isfinite(named(name).log_p(np.array(points))).tolist() == [
            True,
            True,
            False,
            False,
        ]
    turned = np.array([[0.5, 0.5], [2.5, 2.1], [1.5, 1.5], [0.5, 2.5]])
    turned = np.stack([turned.sum(1), turned[:, 1] - turned[:, 0]], axis=1) / np.sqrt(2)
    found = np.isfinite(named("two squares turned").log_p(turned))
    assert found.tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    "name", ["gauss 1", "gaussian", "gaussian -1", "correlated 1", "gaussian x1"]
)
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(ValueError, match="allowed"):
        named(name)


def test_principal_coordinates_are_the_shortest_and_the_longest() -> None:
    z = np.array([[3.0, 4.0, 8.0], [-1.5, 0.5, 2.0]])
    found = named("gaussian 6 0.5 2").principal(z)
    assert_allclose(found, [[8, 0.5], [1, -0.25]], rtol=1e-12)  # z_2 / 0.5, z_1 / 6
    assert_allclose(named("gaussian 2").principal(z[:, :1]), [[1.5], [-0.75]], rtol=1e-12)
