"""Evidence of small data sets by enumeration, SciPy and sampling-free integrals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats
from scipy.special import expit

from bythebook.models.approximation import asymptotic as asy


def test_a_coin() -> None:
    found = asy.coin_of(7, 10)
    exact = integrate.quad(lambda r: r**7 * (1 - r) ** 3, 0, 1)[0]
    assert_allclose(found.exact, np.log(exact))
    assert_allclose(found.A, [[10 / 0.21]])
    assert_allclose(found.bic(10), found.log_likelihood - np.log(10) / 2)
    assert asy.coin_of(700, 1000).variation < found.variation / 5


def test_linear_regression_is_a_gaussian_of_all_points() -> None:
    u = asy.INPUTS[[0, 3, 3, 8]]
    y = np.array([0.2, -1.0, 0.7, 1.5])
    n, sums = np.zeros(9), np.zeros(9)
    for k, value in zip([0, 3, 3, 8], y, strict=True):
        n[k] += 1
        sums[k] += value
    design = np.stack([np.ones(4), u], axis=-1)
    joint = stats.multivariate_normal(np.zeros(4), np.eye(4) + design @ design.T)
    found = asy.linear_of(n, sums, float(y @ y))
    assert_allclose(found.exact, joint.logpdf(y))
    assert_allclose(found.laplace, found.exact)
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    assert_allclose(found.largest, stats.norm.logpdf(residual).sum())


def test_logistic_regression_against_scipy() -> None:
    n = np.zeros(9)
    ones = np.zeros(9)
    n[[1, 6]], ones[6] = [2, 3], 2

    side = np.linspace(-14, 14, 401)
    a, b = np.meshgrid(side, side)
    low, high = (expit(a + b * u) for u in asy.INPUTS[[1, 6]])
    prior = stats.norm.pdf(a, 0, 2) * stats.norm.pdf(b, 0, 2)
    exact = (prior * (1 - low) ** 2 * high**2 * (1 - high)).sum() * 0.07**2
    assert_allclose(asy.logistic_of(n, ones).exact, np.log(exact), atol=1e-4)


def test_a_product_against_an_integral_over_both() -> None:
    N, mean, within = 6, 0.4, 3.0
    found = asy.product_of(N, mean, within)
    side = np.linspace(-7, 7, 1401)
    a, b = np.meshgrid(side, side)
    log = -(N * np.log(2 * np.pi) + within + N * (mean - a * b) ** 2) / 2
    prior = np.exp(-(a**2 + b**2) / 2) / (2 * np.pi)
    assert_allclose(found.exact, np.log((np.exp(log) * prior).sum() * 0.01**2), rtol=1e-6)
    square = mean - 1 / N
    assert_allclose(np.linalg.eigvalsh(found.A), sorted([2, 2 * N * square]))
    top = -N * (mean - square) ** 2 / 2 - (N * np.log(2 * np.pi) + within) / 2
    assert_allclose(found.log_likelihood, top)


def test_a_product_is_drawn_with_the_squares_about_its_mean() -> None:
    """N unit Gaussians: chi-squared with N - 1 degrees of freedom, and zero for one alone."""
    rng = np.random.default_rng(0)

    def within(N: int) -> float:
        return float(-2 * asy.product(N, rng).largest - N * np.log(2 * np.pi))

    assert stats.kstest([within(4) for _ in range(300)], stats.chi2(3).cdf).pvalue > 0.01
    assert_allclose(within(1), 0, atol=1e-12)


@pytest.mark.parametrize("name", list(asy.MODELS))
def test_drawn_data_are_near_what_they_were_drawn_from(name: str) -> None:
    found = [asy.MODELS[name](2000, np.random.default_rng(k)) for k in range(3)]
    for one in found:
        assert one.log_likelihood <= one.largest + 1e-9
        assert abs(one.laplace - one.exact) < (3 if name == "product" else 0.05)


@pytest.mark.parametrize("mean", [0.8, -0.8])
def test_modes_are_where_the_joint_density_is_largest(mean: float) -> None:
    def log_joint(a: float, b: float) -> float:
        return -6 * (mean - a * b) ** 2 / 2 - (a**2 + b**2) / 2

    found = asy.product_of(6, mean, 4.0)
    a, b = found.mode
    e, h = np.eye(2), 1e-4
    around = [log_joint(a + h * s * x, b + h * s * y) for x, y in e for s in (1, -1)]
    assert log_joint(a, b) > max(around)
    both = [[log_joint(a + h * s, b + h * r) for r in (1, -1)] for s in (1, -1)]
    cross = both[0][0] - both[0][1] - both[1][0] + both[1][1]
    assert_allclose(found.A[0, 1], -cross / (4 * h**2), rtol=1e-5)
    assert asy.coin_of(7, 10).mode == pytest.approx([0.7])


def test_the_total_variation_of_a_coin_by_quadrature() -> None:
    """Half the area between a Beta density and a Gaussian, which does not end at one."""
    sd = np.sqrt(0.21 / 10)
    x = np.linspace(-1, 2, 300_001)
    off = np.abs(stats.beta(8, 4).pdf(x) - stats.norm(0.7, sd).pdf(x))
    assert_allclose(asy.coin_of(7, 10).variation, integrate.trapezoid(off, x) / 2, rtol=1e-4)


def test_a_line_is_drawn_with_noise_of_variance_one_where_there_are_points() -> None:
    """Squares about the fitted line are chi-squared; of twelve points some inputs have none."""
    rng = np.random.default_rng(1)
    within = [-2 * asy.linear(12, rng).largest - 12 * np.log(2 * np.pi) for _ in range(300)]
    assert stats.kstest(within, stats.chi2(10).cdf).pvalue > 0.01
