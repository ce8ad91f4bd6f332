"""Taylor expansions: the power series, and convergence."""

import math

import numpy as np
from numpy.testing import assert_allclose

from bythebook.models.approximation.taylor import expansions


def test_the_exponential_is_its_power_series() -> None:
    w = np.array([-1.5, 0.0, 0.7])
    found = expansions(3, w)
    assert found.shape == (4, 3)
    for order in range(4):
        expected = sum(w**n / math.factorial(n) for n in range(order + 1))  # FCML comment 4.3
        assert_allclose(found[order], expected, rtol=1e-12)
    assert_allclose(expansions(20, w)[-1], np.exp(w), rtol=1e-12)
