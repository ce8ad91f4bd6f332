"""Moments and shapes of drawn functions."""

import numpy as np
import pytest

from bythebook.models.networks import priors
from bythebook.models.networks.neural_network import predict

ALPHA = priors.Precisions(0.5, 0.2, 2.0, 4.0)


def test_one_precision_is_divided() -> None:
    assert ALPHA.over("w", 10) == (0.5, 0.2, 0.2, 4.0)
    assert ALPHA.over("default", 10) == ALPHA


def test_mean_square_is_expected() -> None:
    x = np.array([-1.0, 0.5])
    _, f = priors.draw_functions(ALPHA, 6, x, 40_000, np.random.default_rng(0))
    assert (f**2).mean() == pytest.approx(priors.expected_square(ALPHA, 6, x), rel=0.03)


def test_shapes_of_two_lines() -> None:
    x = np.linspace(0, 1, 11)
    found = priors.shapes(x, np.array([2 * x, 2 * x + 4]))
    squares = np.mean([4 * x**2, (2 * x + 4) ** 2])
    assert found._replace(centre_spread=0) == pytest.approx((1.0, 0, 2.0, 2.0, 2.0, squares))
    three = np.array([[0, 1, 4], [0, 2, 2], [0, 0, -9.0]])  # slopes 1 and 3, 2 and 0, 0 and -9
    found = priors.shapes(np.arange(3.0), three)
    assert (found.steepness, found.sensitivity, found.dynamic_range) == (1.0, 2.0, 4.0)
    steps = np.array([x > 0.35, x > 0.65]).astype(float)
    assert priors.shapes(x, steps).centre_spread == pytest.approx(0.15)


def test_rescaled_weights_give_the_rescaled_function() -> None:
    x = np.linspace(-1, 1, 5)
    theta, f = priors.draw_functions(ALPHA, 3, x, 2, np.random.default_rng(0))
    moved = priors.rescaled(theta, 3, (2.0, 1.0), (0.5, -3.0))
    found = predict(moved, (1, 3, 1), (2 * x + 1)[:, None])[..., 0]
    assert np.allclose(found, 0.5 * f - 3)
