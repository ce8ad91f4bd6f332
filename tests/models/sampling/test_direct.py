"""Transformations against SciPy's distributions, and errors that the checks must notice."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.models.sampling.direct import (
    TRANSFORMS,
    density_gaps,
    disc_cells,
    distributions,
    moment_scores,
    source,
)
from bythebook.models.sampling.uniformity import all_even, independent

SCIPY = {
    "exponential": lambda p: stats.expon(scale=1 / p[0]),
    "cauchy": lambda _: stats.cauchy(),
    "logistic": lambda _: stats.logistic(),
    "rayleigh": lambda p: stats.rayleigh(scale=p[0]),
    "gaussian": lambda p: stats.norm(p[0], p[1]),
}


@pytest.mark.parametrize("name", SCIPY)
def test_one_variable_by_scipy(name: str) -> None:
    transform, rng = TRANSFORMS[name], np.random.default_rng(0)
    theta = transform.parameters(1, rng)[0]
    law = SCIPY[name](theta[0])  # type: ignore[no-untyped-call]
    z = source(transform.source, 1, 50, 1, rng).z[0]
    y = transform.of(z, theta)
    expected = law.ppf(z) if transform.source == "uniform" else law.ppf(stats.norm.cdf(z))
    assert_allclose(y, expected, rtol=1e-7)
    assert_allclose(transform.uniforms(y, theta), law.cdf(y), atol=1e-10)
    assert_allclose(transform.log_density(y, theta), law.logpdf(y[:, 0]), rtol=1e-9)
    h = np.array([0.2, 0.5, 0.9])
    for found in distributions(transform, h, rng):
        assert_allclose(found, h, atol=1e-8)
    wrong = transform._replace(uniforms=lambda y, p: law.cdf(y) + 0.1)
    integral, distribution = distributions(wrong, h, np.random.default_rng(0))
    assert_allclose(distribution, integral + 0.1, atol=1e-8)


def test_vectors_by_scipy() -> None:
    transform, rng = TRANSFORMS["gaussian vector"], np.random.default_rng(0)
    theta = transform.parameters(2, rng)
    mean, covariance = theta[1, 0, :3], theta[1, 0, 3:].reshape(3, 3)
    z = rng.standard_normal((2, 6000, 3))
    y = transform.of(z, theta)
    law = stats.multivariate_normal(mean, covariance)
    assert_allclose(transform.log_density(y, theta)[1], law.logpdf(y[1]), rtol=1e-9)
    u = transform.uniforms(y, theta)
    assert all_even(u[1]) > 0.001
    assert independent(u[1, :, 0], u[1, :, 2]) > 0.001
    scores = moment_scores(y, theta)
    expected = (y[1].mean(0) - mean) / np.sqrt(np.diag(covariance) / 6000)
    assert_allclose(scores[1, :3], expected)
    assert np.abs(scores).max() < 4.5
    assert np.abs(moment_scores(1.1 * y, theta)).max() > 6


def test_jacobians_tell_right_from_wrong() -> None:
    rng = np.random.default_rng(0)
    for name, transform in TRANSFORMS.items():
        right = (density_gaps(transform, 100, rng) < 1e-6).mean()
        assert right > 0.9 if name != "gaussian pair as printed" else right < 0.1, name
    wrong = TRANSFORMS["exponential"]._replace(of=lambda z, rate: -np.log1p(-z) * rate)
    assert np.median(density_gaps(wrong, 100, rng)) > 0.01
    none = np.random.default_rng(0)
    shifted = TRANSFORMS["cauchy"]._replace(log_density=lambda y, _: 0.3 - np.log1p(y[..., 0] ** 2))
    assert_allclose(density_gaps(shifted, 20, none), 0.3 + np.log(np.pi), atol=1e-5)


def test_the_disc() -> None:
    rng = np.random.default_rng(0)
    z, kept = source("disc", 3, 4000, 2, rng)
    assert (z**2).sum(-1).max() <= 1
    assert_allclose(kept, np.pi / 4, atol=0.03)
    counts = np.bincount(disc_cells(z).ravel(), minlength=32)
    assert counts.min() > 12_000 / 32 * 0.8
    assert disc_cells(np.array([[0.1, 0.05], [0.9, 0.01], [-0.9, -0.01]])).tolist() == [4, 28, 24]


def test_pairs_as_printed_are_not_defined_for_negative_numbers() -> None:
    z = np.array([[0.3, 0.4], [-0.3, 0.4]])
    none = np.zeros((1, 0))
    with np.errstate(invalid="ignore"):
        printed = TRANSFORMS["gaussian pair as printed"].of(z, none)
    assert np.isnan(printed).tolist() == [[False, False], [True, False]]
    assert_allclose(TRANSFORMS["gaussian pair"].of(z, none)[0], z[0] * np.sqrt(-8 * np.log(0.25)))
