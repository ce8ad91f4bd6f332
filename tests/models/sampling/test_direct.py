"""Transformations against SciPy's distributions, and errors that the checks must notice."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.models.sampling.direct import (
    TRANSFORMS,
    disc_cells,
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
    assert transform.log_density is not None
    assert_allclose(transform.log_density(y, theta), law.logpdf(y[:, 0]), rtol=1e-9)


def test_vectors_by_scipy() -> None:
    transform, rng = TRANSFORMS["gaussian vector"], np.random.default_rng(0)
    theta = transform.parameters(2, rng)
    mean, covariance = theta[1, 0, :3], theta[1, 0, 3:].reshape(3, 3)
    z = rng.standard_normal((2, 6000, 3))
    y = transform.of(z, theta)
    u = transform.uniforms(y, theta)
    assert all_even(u[1]) > 0.001
    assert independent(u[1, :, 0], u[1, :, 2]) > 0.001
    precision = np.linalg.inv(covariance)  # of the last component given the others
    score = (y[1] - mean) @ precision[2] / np.sqrt(precision[2, 2])
    assert_allclose(u[1, :, 2], stats.norm.cdf(score), atol=1e-12)
    assert_allclose(np.cov(y[1].T), covariance, atol=0.1 * np.diag(covariance).max())
    assert_allclose(y[1].mean(0), mean, atol=0.1 * np.sqrt(np.diag(covariance).max()))


def test_the_disc() -> None:
    rng = np.random.default_rng(0)
    z, kept = source("disc", 3, 4000, 2, rng)
    assert (z**2).sum(-1).max() <= 1
    assert_allclose(kept, np.pi / 4, atol=0.03)
    counts = np.bincount(disc_cells(z).ravel(), minlength=32)
    assert counts.min() > 12_000 / 32 * 0.8
    assert disc_cells(np.array([[0.1, 0.05], [0.9, 0.01], [-0.9, -0.01]])).tolist() == [4, 28, 24]
