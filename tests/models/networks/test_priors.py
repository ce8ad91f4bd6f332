"""Moments and shapes of drawn functions."""

import numpy as np
import pytest

from bythebook.models.networks import priors

ALPHA = priors.Precisions(0.5, 0.2, 2.0, 4.0)


def test_one_precision_is_divided() -> None:
    assert ALPHA.over("w", 10) == (0.5, 0.2, 0.2, 4.0)
    assert ALPHA.over("default", 10) == ALPHA


def test_the_mean_square_of_drawn_functions_is_expected() -> None:
    """E f^2 = H E[tanh^2] / alpha_w + 1 / alpha_c, by Gauss-Hermite quadrature."""
    x, H = np.array([-1.0, 0.5]), 6
    f = priors.draw_functions(ALPHA, H, x, 40_000, np.random.default_rng(0))
    node, weight = np.polynomial.hermite_e.hermegauss(60)
    deviation = np.sqrt(x**2 / ALPHA.v + 1 / ALPHA.b)
    squares = np.tanh(deviation[:, None] * node) ** 2 @ weight / weight.sum()
    assert (f**2).mean(0) == pytest.approx(H * squares / ALPHA.w + 1 / ALPHA.c, rel=0.03)


def test_shapes_of_two_lines() -> None:
    x = np.linspace(0, 1, 11)
    found = priors.shapes(x, np.array([2 * x, 2 * x + 4]))
    assert found._replace(centre_spread=0) == pytest.approx((1.0, 0, 2.0, 2.0, 2.0))
    three = np.array([[0, 1, 4], [0, 2, 2], [0, 0, -9.0]])  # slopes 1 and 3, 2 and 0, 0 and -9
    found = priors.shapes(np.arange(3.0), three)
    assert (found.steepness, found.sensitivity, found.dynamic_range) == (1.0, 2.0, 4.0)
    steps = np.array([x > 0.35, x > 0.65]).astype(float)
    assert priors.shapes(x, steps).centre_spread == pytest.approx(0.15)
