"""Equations as printed: which hold and which do not, and the quadrature they are held against."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from models.approximation.clutter import Clutter
from models.approximation.clutter_equations import EQUATIONS, gaps, lattice, moments, normal

WRONG = {"10.222", "10.223", "10.245"}


def test_quadrature_of_a_gaussian_in_the_plane() -> None:
    theta, room = lattice(np.array([1.0, -2.0]), 10.0)
    found = moments(normal(theta, np.array([0.5, -1.0]), 0.7).real, theta, room)
    assert_allclose(found.total, 1)
    assert_allclose(found.mean, [0.5, -1.0])
    assert_allclose(found.variance, 0.7)
    pdf = stats.multivariate_normal([0.5, -1.0], 0.7 * np.eye(2)).pdf(theta[:5])
    assert_allclose(normal(theta[:5], np.array([0.5, -1.0]), 0.7).real, pdf)


def test_three_equations_fail_and_all_others_hold() -> None:
    rng = np.random.default_rng(3)
    for D in (1, 2):
        found = np.array([gaps(D, Clutter(0.5, 10.0, 100.0), rng) for _ in range(4)])
        for equation, gap in zip(EQUATIONS, found.T, strict=True):
            assert (gap.min() > 0.01) if equation in WRONG else (gap.max() < 1e-7), equation
