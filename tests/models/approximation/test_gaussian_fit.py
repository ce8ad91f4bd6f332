"""Gaussians nearest to densities: Gaussians find themselves, divergences against closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats
from scipy.special import expit

from bythebook.models.approximation import gaussian_fit as gf

M, S = np.array([0.4, -1.0]), np.array([[1.2, 0.5], [0.5, 0.8]])


def gaussian() -> gf.Density:
    return gf.mixture(np.ones(1), M[None], S[None])


def test_a_gaussian_is_its_own_nearest_by_either_divergence() -> None:
    p, start = gaussian(), (np.zeros(2), np.eye(2) / 3)
    for fit in (gf.fit_exclusive(p, *start), gf.fit_inclusive(p, *start), gf.moments(p)):
        assert_allclose(fit.mean, M, atol=1e-6)
        assert_allclose(fit.covariance, S, atol=1e-6)
        assert abs(fit.divergence) < 1e-8
    peak = gf.mode(p, np.zeros(2))
    assert_allclose(peak.mean, M, atol=1e-5)
    assert_allclose(peak.covariance, S, atol=1e-5)


def test_a_mixture_is_the_sum_of_densities_of_unlike_widths() -> None:
    weights, means = np.array([0.3, 0.7]), np.array([M, -M])
    widths = np.stack([S, 5 * np.eye(2)])
    z = np.random.default_rng(1).standard_normal((50, 2))
    parts = [
        w * stats.multivariate_normal(m, C).pdf(z)
        for w, m, C in zip(weights, means, widths, strict=True)
    ]
    p = gf.mixture(weights, means, widths)
    assert_allclose(np.ptp(p.log_p(z) - np.log(sum(parts))), 0, atol=1e-12)


def test_divergences_of_gaussians_in_closed_form() -> None:
    m, V = np.array([-0.3, 0.2]), np.array([[0.9, -0.2], [-0.2, 1.1]])

    def closed(a: np.ndarray, A: np.ndarray, b: np.ndarray, B: np.ndarray) -> float:
        off, inverse = b - a, np.linalg.inv(B)
        logs = np.linalg.slogdet(B)[1] - np.linalg.slogdet(A)[1]
        return float(np.trace(inverse @ A) + off @ inverse @ off - 2 + logs) / 2

    assert_allclose(gf.exclusive(gaussian(), m, V), closed(m, V, M, S), rtol=1e-6)
    assert_allclose(gf.inclusive(gaussian(), m, V), closed(M, S, m, V), rtol=1e-6)


def test_two_far_modes_are_two_minima_one_way_and_one_the_other() -> None:
    apart = np.array([3.0, 0.0])
    p = gf.mixture(np.array([0.4, 0.6]), np.stack([apart, -apart]), np.stack([np.eye(2)] * 2))
    starts = [(sign * apart, np.eye(2)) for sign in (1, -1)]
    one = [gf.fit_exclusive(p, *start) for start in starts]
    two = [gf.fit_inclusive(p, *start) for start in starts]
    assert (gf.distinct(one), gf.distinct(two)) == (2, 1)
    assert_allclose(sorted(fit.divergence for fit in one), -np.log([0.6, 0.4]), atol=1e-2)
    assert_allclose(two[0].mean, [-0.6, 0], atol=1e-5)
    assert_allclose(two[0].covariance, np.diag([1 + 9 - 0.36, 1]), atol=1e-4)
    assert gf.rare_mass(p, two[0].mean, two[0].covariance) > gf.rare_mass(p, *one[0][:2])


def test_the_skewed_density_and_its_slope() -> None:
    p = gf.skewed()
    total = integrate.quad(lambda z: np.exp(-(z**2) / 2) * expit(20 * z + 4), -3, 8)[0]
    assert_allclose(p.log_evidence, np.log(total), rtol=1e-6)
    fit = gf.fit_exclusive(p, np.zeros(1), np.eye(1) / 4)
    z, h = fit.mean + np.sqrt(fit.covariance[0]) * np.linspace(-8, 8, 1601)[:, None], 1e-4
    weight = stats.norm(fit.mean, np.sqrt(fit.covariance[0])).pdf(z)[:, 0]
    weight /= weight.sum()
    slope = (p.log_p(z + h) - p.log_p(z - h)) / (2 * h)
    bend = (p.log_p(z + h) - 2 * p.log_p(z) + p.log_p(z - h)) / h**2
    assert_allclose(weight @ slope, 0, atol=1e-5)  # where KL(q||p) has no derivatives
    assert_allclose(-1 / (weight @ bend), fit.covariance[0, 0], rtol=1e-4)


@pytest.mark.parametrize(
    "p", [gf.skewed(), gf.two_means(np.array([-1.0, 0.5, 2.0]), 10.0), gaussian()]
)
def test_slopes_are_derivatives(p: gf.Density) -> None:
    D, h = p.places.shape[1], 1e-6
    z = np.linspace(-0.5, 1.2, D)
    found = [(p.log_p(z + h * e) - p.log_p(z - h * e)) / (2 * h) for e in np.eye(D)]
    assert_allclose(p.slope(z), found, rtol=1e-5)


def test_the_posterior_of_one_point_for_two_means() -> None:
    p = gf.two_means(np.array([0.7]), 10.0)
    assert p.mass.sum() == pytest.approx(1)
    places = np.array([[0.2, -0.4], [1.0, 0.3]])
    likelihood = np.exp(-((0.7 - places) ** 2) / 2).sum(1)
    ratio = np.exp(p.log_p(places)) / (likelihood * np.exp(-(places**2).sum(1) / 20))
    assert_allclose(ratio[0], ratio[1])
