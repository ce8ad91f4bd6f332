"""Moments of a transformed Gaussian: closed forms, and samples where there is none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.state_space.unscented import (
    Scaling,
    by_points,
    by_tangent,
    hermite_points,
    moments_matched,
    sigma_points,
)
from bythebook.models.types import Floats

MEAN = np.array([0.4, -1.0, 2.0])
COV = np.array([[1.0, 0.3, -0.2], [0.3, 0.5, 0.1], [-0.2, 0.1, 0.8]])
SCALINGS = [Scaling(), Scaling(1, 0, 0), Scaling(0.5, 2, 1), Scaling(1e-2, 2, 0), Scaling(1, 2, -1)]


def polar(x: Floats) -> Floats:
    r, angle = x[..., 0], x[..., 1]
    return np.stack([r * np.cos(angle), r * np.sin(angle)], axis=-1)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_the_points_have_the_moments_of_the_gaussian(scaling: Scaling) -> None:
    points = sigma_points(MEAN, COV, scaling)
    assert points.x.shape == (7, 3)  # 2d + 1
    assert_allclose(points.w_m.sum(), 1, rtol=1e-11)
    found = by_points(points, lambda x: x)
    for covariance in (found.cov, found.cross):
        assert_allclose(covariance, COV, rtol=0, atol=1e-10)
    assert_allclose(found.mean, MEAN, rtol=0, atol=1e-10)


def test_one_dimension_as_the_book_has_it() -> None:
    """MLAPP 18.5.2.1: alpha 1, beta 0 and kappa 2 make lambda 2 and points at mu, mu +- 3^1/2 s."""
    x, w_m, w_c = sigma_points(np.array([5.0]), np.array([[4.0]]), Scaling(1, 0, 2))
    assert Scaling(1, 0, 2).lambda_(1) == 2
    assert_allclose(x[:, 0], [5, 5 + 2 * np.sqrt(3), 5 - 2 * np.sqrt(3)], rtol=1e-15)
    for w in (w_m, w_c):
        assert_allclose(w, [2 / 3, 1 / 6, 1 / 6], rtol=1e-15)


def test_the_first_weight_in_covariances_has_its_extra_term() -> None:
    scaling = Scaling(0.5, 2, 1)
    _, w_m, w_c = sigma_points(MEAN, COV, scaling)
    assert_allclose(w_c - w_m, [1 - 0.25 + 2, *np.zeros(6)], rtol=0, atol=1e-14)
    assert_allclose(w_m[0], scaling.lambda_(3) / (3 + scaling.lambda_(3)), rtol=1e-14)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_means_of_quadratics_are_exact(scaling: Scaling) -> None:
    """E[x^T B x + a^T x] = tr(B Sigma) + mu^T B mu + a^T mu, and a tangent has no trace."""
    rng = np.random.default_rng(0)
    B, a = rng.standard_normal((3, 3)), rng.standard_normal(3)

    def f(x: Floats) -> Floats:
        return (np.einsum("...i,ij,...j->...", x, B, x) + x @ a)[..., np.newaxis]

    right = np.trace(B @ COV) + MEAN @ B @ MEAN + a @ MEAN
    assert_allclose(by_points(sigma_points(MEAN, COV, scaling), f).mean, [right], rtol=1e-9)
    tangent = by_tangent(MEAN, COV, f, lambda x: ((B + B.T) @ x + a)[np.newaxis])
    assert_allclose(right - tangent.mean, [np.trace(B @ COV)], rtol=1e-12)


def test_the_square_of_a_gaussian() -> None:
    """N(0.5, 1): mean 1.25, variance 3, covariance with x 1; a tangent says 0.25, 1 and 1."""
    mean, cov = np.array([0.5]), np.eye(1)
    points = by_points(sigma_points(mean, cov, Scaling()), np.square)
    assert_allclose(
        [points.mean[0], points.cov[0, 0], points.cross[0, 0]], [1.25, 3, 1], rtol=1e-14
    )
    tangent = by_tangent(mean, cov, np.square, lambda x: 2 * x[..., np.newaxis])
    assert_allclose([tangent.mean[0], tangent.cov[0, 0], tangent.cross[0, 0]], [0.25, 1, 1])


def test_quadrature_has_the_closed_form_of_polar_coordinates() -> None:
    """E[y] = r e^(-s^2/2) sin, and the second moments by e^(-2 s^2): independent of the points."""
    r, angle, sd_r, s = 1.0, 0.7, 0.02, 0.26
    found = by_points(hermite_points(np.array([r, angle]), np.diag([sd_r**2, s**2]), 20), polar)
    shrink, twice, r2 = np.exp(-(s**2) / 2), np.exp(-2 * s**2), r**2 + sd_r**2
    mean = r * shrink * np.array([np.cos(angle), np.sin(angle)])
    second = r2 / 2 * np.array([1 + twice * np.cos(2 * angle), 1 - twice * np.cos(2 * angle)])
    assert_allclose(found.mean, mean, rtol=1e-13)
    assert_allclose(np.diagonal(found.cov), second - mean**2, rtol=1e-11)
    off = r2 / 2 * twice * np.sin(2 * angle) - mean.prod()
    assert_allclose(found.cov[0, 1], off, rtol=1e-11)


def test_quadrature_agrees_with_samples_for_correlated_variables() -> None:
    rng = np.random.default_rng(1)
    x = rng.multivariate_normal(MEAN, COV, 200_000)

    def f(x: Floats) -> Floats:
        return np.stack([np.sin(x[..., 0]) * x[..., 2], np.tanh(x.sum(-1))], axis=-1)

    y = f(x)
    found = by_points(hermite_points(MEAN, COV, 12), f)
    assert_allclose(found.mean, y.mean(0), rtol=0, atol=0.02)
    assert_allclose(found.cov, np.cov(y.T), rtol=0, atol=0.03)
    cross = (x - x.mean(0)).T @ (y - y.mean(0)) / len(x)
    assert_allclose(found.cross, cross, rtol=0, atol=0.02)


def test_leading_axes_are_gaussians_side_by_side() -> None:
    means, covs = np.stack([MEAN, -MEAN]), np.stack([COV, 2 * COV])

    def f(x: Floats) -> Floats:
        return np.stack([np.sin(x[..., 0]), x[..., 1] * x[..., 2]], axis=-1)

    def F(x: Floats) -> Floats:
        J = np.zeros((*x.shape[:-1], 2, 3))
        J[..., 0, 0], J[..., 1, 1], J[..., 1, 2] = np.cos(x[..., 0]), x[..., 2], x[..., 1]
        return J

    many = [by_points(sigma_points(means, covs, Scaling()), f), by_tangent(means, covs, f, F)]
    for k in range(2):
        one = [
            by_points(sigma_points(means[k], covs[k], Scaling()), f),
            by_tangent(means[k], covs[k], f, F),
        ]
        for all_, alone in zip(many, one, strict=True):
            for part, single in zip(all_, alone, strict=True):
                assert_allclose(part[k], single, rtol=1e-13, atol=1e-14)


def test_moments_matched_by_hand() -> None:
    """Quadrature with n points has 2n - 1 moments; of two points at +-1 the fourth is 1, not 3."""
    zero, one = np.zeros(1), np.eye(1)
    for n, right in ((1, 1), (2, 3), (3, 5), (4, 7), (5, 8)):
        assert moments_matched(hermite_points(zero, one, n)) == right


def test_quadrature_of_gaussians_side_by_side() -> None:
    """Squares have the covariance 2 c^2 + 4 m m' c, of which three points a side are exact."""
    means, covs = np.stack([MEAN, -2 * MEAN]), np.stack([COV, 2 * COV])
    found = by_points(hermite_points(means, covs, 3), np.square)
    for k in range(2):
        m, c = means[k], covs[k]
        assert_allclose(found.mean[k], m**2 + np.diagonal(c), rtol=1e-12)
        assert_allclose(found.cov[k], 2 * c**2 + 4 * np.outer(m, m) * c, rtol=1e-11, atol=1e-12)
        assert_allclose(found.cross[k], 2 * c * m, rtol=1e-11, atol=1e-12)
