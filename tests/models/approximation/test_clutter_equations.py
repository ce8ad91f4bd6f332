"""Equations as printed: which hold and which do not, and the quadrature they are held against."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from models.approximation.clutter import Clutter
from models.approximation.clutter_equations import (
    EQUATIONS,
    Case,
    gaps,
    lattice,
    moments,
    normal,
)

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

    def case(D: int, sign: int) -> Case:
        m, x, context, whole, part = rng.normal(0, 1.5, (5, D))
        v, beside, wide, narrow = rng.uniform(0.4, 2, 4)
        factors = m + rng.normal(size=(3, D)), rng.uniform(0.5, 3, 3), rng.uniform(0.5, 2, 3)
        ratio = whole, wide
        return Case(
            *(m, v, x, *factors, (context, beside), ratio),
            *((part, sign * (narrow + 4)), rng.normal(0, 2, (5, D))),
        )

    of = Clutter(0.3, 8.0, 50.0)
    for D in (1, 2):
        found = np.array([gaps(case(D, sign), of) for sign in (-1, 1, -1, 1)])
        for equation, gap in zip(EQUATIONS, found.T, strict=True):
            assert (gap.min() > 0.01) if equation in WRONG else (gap.max() < 1e-7), equation
