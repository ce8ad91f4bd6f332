"""Expectations under a uniform density against numerical integration."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

from models.sampling.monte_carlo import INTEGRANDS, running_mean, under_uniform


@pytest.mark.parametrize("name", INTEGRANDS)
@pytest.mark.parametrize(("a", "b"), [(0.0, 1.0), (-2.0, 3.5)])
def test_moments_by_quadrature(name: str, a: float, b: float) -> None:
    f, mean, square = INTEGRANDS[name]
    assert_allclose(mean(a, b), quad(f, a, b)[0] / (b - a), rtol=1e-10)
    assert_allclose(square(a, b), quad(lambda y: f(y) ** 2, a, b)[0] / (b - a), rtol=1e-10)


def test_running_means_by_a_loop() -> None:
    values = np.random.default_rng(1).normal(size=(3, 20))
    expected = [[row[: s + 1].mean() for s in range(20)] for row in values]
    assert_allclose(running_mean(values), expected, rtol=1e-12)


@pytest.mark.parametrize("name", INTEGRANDS)
def test_draws_have_the_moments_stated(name: str) -> None:
    found = under_uniform(INTEGRANDS[name], -1.0, 2.0)
    values = found.f((4, 50_000), np.random.default_rng(0))
    assert_allclose(values.mean(), found.mean, atol=4.5 * np.sqrt(found.variance / values.size))
    assert_allclose(values.var(), found.variance, rtol=0.02)
