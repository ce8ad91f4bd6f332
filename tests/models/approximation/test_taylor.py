"""Taylor expansions: closed forms and convergence."""

import math

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import expit

from models.approximation.taylor import FUNCTIONS, expansions


def test_the_exponential_is_its_power_series() -> None:
    w = np.array([-1.5, 0.0, 0.7])
    found = expansions("exp", 0.0, 3, w)
    for order in range(4):
        expected = sum(w**n / math.factorial(n) for n in range(order + 1))  # FCML comment 4.3
        assert_allclose(found[order], expected, rtol=1e-12)


def test_the_expansion_may_be_about_any_point() -> None:
    w = np.array([1.8, 2.0, 2.3])
    assert_allclose(expansions("exp", 2.0, 8, w)[-1], np.exp(w), rtol=1e-9)
    assert_allclose(expansions("sigmoid", 2.0, 12, w)[-1], expit(w), rtol=1e-9)


def test_derivatives_of_the_sigmoid() -> None:
    s = 1 / (1 + math.exp(-0.4))
    first = s * (1 - s)
    expected = [s, first, first * (1 - 2 * s), first * (1 - 6 * s + 6 * s**2)]
    assert_allclose(FUNCTIONS["sigmoid"].derivatives(0.4, 3), expected, rtol=1e-12)
