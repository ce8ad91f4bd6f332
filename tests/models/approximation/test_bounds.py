"""Bounds against SciPy's integrals, numeric conjugates and contacts known by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate
from scipy.special import expit
from scipy.stats import norm

from bythebook.models.approximation import bounds


@pytest.mark.parametrize("name", list(bounds.BOUNDS))
def test_a_bound_touches_at_its_contact_and_is_on_one_side(name: str) -> None:
    f, bound = bounds.BOUNDS[name]
    x, contacts = np.linspace(0.1, 6, 60), np.array([[0.4], [1.0], [2.5]])
    assert_allclose(bound(contacts, contacts), f(contacts), rtol=1e-12)
    sign = 1 if name.startswith("above") else -1
    assert (sign * (bound(x, contacts) - f(x))).min() > -1e-12
    h = 1e-5  # a tangent has the slope of the function
    slopes = [
        (g(contacts + h) - g(contacts - h)) / (2 * h) for g in (f, lambda x: bound(x, contacts))
    ]
    assert_allclose(*slopes, rtol=1e-6)


def test_the_gaussian_bound_touches_at_both_signs_and_holds() -> None:
    x = np.linspace(-12, 12, 500)
    for xi in (0.5, 2.5, 5.0):
        gap = expit(x) - bounds.gaussian_bound(x, np.array(xi))
        assert gap.min() > -1e-15
        ends = np.array([xi, -xi])
        assert_allclose(bounds.gaussian_bound(ends, np.array(xi)), expit(ends), rtol=1e-12)
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
