"""Histories of descent methods."""

import numpy as np

from bythebook.models.networks import descents
from bythebook.models.networks.neural_network import error_and_gradient, random_start

SIZES = (1, 2, 1)
X = np.linspace(-1, 1, 8)[:, None]
T = np.sin(2 * X)


def test_a_course_of_gradient_descent_is_its_own_steps() -> None:
    start = random_start(SIZES, 3, np.random.default_rng(0))
    found = descents.descent_courses(start, SIZES, X, T, 4)
    theta = start
    for k in range(4):
        error, gradient = error_and_gradient(theta, SIZES, X, T)
        assert np.allclose(found[1, :, k], error)
        theta = theta - descents.RATES[1] / len(X) * gradient


def test_scipy_courses_never_rise_and_end_in_time() -> None:
    start = random_start(SIZES, 1, np.random.default_rng(0))[0]
    for method in descents.SCIPY:
        found = descents.scipy_course(method, start, SIZES, X, T, 30)
        assert len(found) == 30
        assert (np.diff(found) <= 0).all()
        assert found[0] == error_and_gradient(start, SIZES, X, T)[0]
