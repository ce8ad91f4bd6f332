"""Online updates against exact moments and SciPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, stats

from bythebook.models.approximation import online_logistic as ol
from bythebook.models.approximation.online_logistic import Belief

BELIEF = Belief(np.array([0.4, -1.0]), np.array([0.5, 2.0]))
X = np.array([1.2, -0.7])


@pytest.mark.parametrize("y", [0.0, 1.0])
def test_an_update_has_the_exact_moments_unless_as_printed(y: float) -> None:
    exact = ol.exact_moments(BELIEF, X, y)
    found = ol.update(BELIEF, X, np.array(y))
    assert_allclose(found.mean, exact.mean, atol=1e-10)
    assert_allclose(found.variance, exact.variance, atol=1e-10)
    assert np.abs(ol.update(BELIEF, X, np.array(y), printed=True).mean - exact.mean).max() > 0.01


def test_the_printed_gain_by_hand() -> None:
    below = (1.44 + 0.49) * BELIEF.variance**2
    assert_allclose(ol.gain(X, BELIEF.variance, printed=True), X * BELIEF.variance / below)
    assert_allclose(ol.gain(X, BELIEF.variance) @ X, 1)


def test_a_probit_update_against_scipy() -> None:
    def moment(k: int) -> float:
        def f(a: float) -> float:
            return float(a**k * stats.norm.cdf(-a) * stats.norm.pdf(a, 0.6, 1.5**0.5))

        return float(integrate.quad(f, -12, 12)[0])

    Z, first, second = (moment(k) for k in range(3))
    found = ol.probit(np.array(0.6), np.array(1.5), np.array(-1.0))
    assert_allclose(np.exp(found.log_z), Z)
    assert_allclose(found.mean, first / Z)
    assert_allclose(found.variance, second / Z - (first / Z) ** 2)


def test_three_sigma_points_by_hand() -> None:
    """At -3, 0 and 3, with a third of the weight outside; their sigmoids are no weights yet."""
    found = ol.unscented(0.0, 3.0, 1.0)
    out = 1 / (1 + np.exp(3.0))
    p = np.array([out / 6, 4 / 12, (1 - out) / 6])
    mean = 3 * (p[2] - p[0]) / p.sum()
    assert_allclose(found.log_z, np.log(p.sum()))
    assert_allclose(found.mean, mean)
    assert_allclose(found.variance, 9 * (p[0] + p[2]) / p.sum() - mean**2)


def test_sigma_points_are_right_where_the_activation_is_narrow() -> None:
    wide, narrow = ol.unscented(0.3, 9.0, 1.0), ol.unscented(0.3, 0.01, 1.0)
    assert_allclose(narrow.mean, 0.3 + 0.01 * (1 - stats.logistic.cdf(0.3)), atol=1e-4)
    assert wide.variance > 0


def test_a_pass_is_its_updates_and_counts_are_linear() -> None:
    x = np.random.default_rng(0).normal(size=(2, 5, 3))
    y = np.ones((2, 5))
    belief = Belief(np.zeros((2, 3)), np.full((2, 3), 4.0))
    for n in range(5):
        belief = ol.update(belief, x[:, n], y[:, n])
    assert_allclose(ol.filtered(x, y, 4.0).variance, belief.variance)
    assert_allclose(ol.filtered(x[:, :1], y[:, :1], 4.0).mean, ol.update(
        Belief(np.zeros((2, 3)), np.full((2, 3), 4.0)), x[:, 0], y[:, 0]).mean)  # fmt: skip
    one, two, three = (ol.operations(D) for D in (2, 3, 4))
    assert three - two == two - one > 0


def test_before_any_point_every_series_has_the_prior() -> None:
    belief = ol.filtered(np.zeros((4, 2, 0, 3)), np.zeros((4, 2, 0)), 2.5)
    assert_array_equal(belief.mean, np.zeros((4, 2, 3)))
    assert_array_equal(belief.variance, np.full((4, 2, 3), 2.5))
