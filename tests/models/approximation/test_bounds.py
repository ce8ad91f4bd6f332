"""Bounds against SciPy's integrals, numeric conjugates and contacts known by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate
from scipy.special import expit
from scipy.stats import norm

from bythebook.models.approximation import bounds

STRETCHES = {"exp(-x)": (-2.0, 5.0), "ln x": (0.05, 10.0), "half-angle in x squared": (0.1, 64.0)}


@pytest.mark.parametrize("name", list(bounds.CURVES))
def test_slopes_are_derivatives_and_conjugates_are_searched(name: str) -> None:
    curve, ends = bounds.CURVES[name], STRETCHES.get(name, (-8.0, 8.0))
    x, h = np.linspace(*ends, 9)[1:-1], 1e-5
    assert_allclose(curve.slope(x), (curve.f(x + h) - curve.f(x - h)) / (2 * h), rtol=1e-4)
    low, high = sorted(curve.slope(np.array(ends)).tolist())
    slopes = np.linspace(low, high, 7)[1:-1]
    found = bounds.conjugate(curve, slopes, ends)
    assert_allclose(found.value, curve.conjugate(slopes), atol=1e-5)
    assert_allclose(curve.slope(found.place), slopes, rtol=1e-3, atol=1e-6)
    back = bounds.recovered(curve, x, (low, high))
    assert_allclose(back.value, curve.f(x), atol=1e-5)
    assert_allclose(back.place, curve.slope(x), atol=1e-4)


def test_the_gaussian_bound_touches_at_both_signs_and_holds() -> None:
    x = np.linspace(-12, 12, 500)
    for xi in (0.5, 2.5, 5.0):
        gap = expit(x) - bounds.gaussian_bound(x, np.array(xi))
        assert gap.min() > -1e-15
        ends = np.array([xi, -xi])
        assert_allclose(bounds.gaussian_bound(ends, np.array(xi)), expit(ends), rtol=1e-12)
        assert (expit(x) < bounds.gaussian_bound(x, np.array(xi), -1.0)).any()
    assert_allclose(bounds.lam(np.array([0.0, 1e-4])), 0.125, rtol=1e-6)
    assert_allclose(bounds.lam(np.array(2.0)), np.tanh(1) / 8)


def test_the_exponential_bound_touches_where_its_slope_is_the_sigmoid_s() -> None:
    slope = np.array([0.2, 0.7])
    contact = np.log((1 - slope) / slope)
    assert_allclose(bounds.exponential_bound(contact, slope), expit(contact))
    assert (bounds.exponential_bound(contact + 1, slope) > expit(contact + 1)).all()


def test_integrals_against_scipy() -> None:
    m, v, xi = 1.0, 4.0, 2.0

    def of(f: object) -> float:
        return float(integrate.quad(lambda a: f(a) * norm.pdf(a, m, 2), -20, 22)[0])  # type: ignore[operator]

    exact = of(expit)
    assert_allclose(bounds.sigmoid_integral(np.array(m), np.array(v)), exact, rtol=1e-8)
    closed = bounds.gaussian_integral(np.array(m), np.array(v), np.array(xi))
    assert_allclose(closed, of(lambda a: bounds.gaussian_bound(a, np.array(xi))), rtol=1e-8)
    best, value = bounds.best_contact(m, v)
    assert closed <= value < exact
    for other in (best - 0.05, best + 0.05):
        assert bounds.gaussian_integral(np.array(m), np.array(v), np.array(other)) < value


def test_moderated_outputs() -> None:
    assert_allclose(bounds.moderated(np.array(1.3), np.array(0.0)), expit(1.3))
    found = bounds.moderated(np.array(2.0), np.array(8 / np.pi * 3))
    assert_allclose(found, expit(1.0))
