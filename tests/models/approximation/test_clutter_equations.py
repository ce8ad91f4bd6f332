"""Equations as printed: which hold and which do not, and the quadrature they are compared with."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.models.approximation import clutter_equations
from bythebook.models.approximation.clutter import Clutter
from bythebook.models.approximation.clutter_equations import (
    EQUATIONS,
    Case,
    gaps,
    lattice,
    moments,
    normal,
)
from bythebook.models.types import Floats

WRONG = {"10.222", "10.223", "10.245"}
OF = Clutter(0.3, 8.0, 50.0)


def case(rng: np.random.Generator, D: int, sign: int) -> Case:
    """A random cavity, point and factors, and a part whose variance has this sign."""
    m, x, context, whole, part = rng.normal(0, 1.5, (5, D))
    v, v_context, wide, narrow = rng.uniform(0.4, 2, 4)
    factors = m + rng.normal(size=(3, D)), rng.uniform(0.5, 3, 3), rng.uniform(0.5, 2, 3)
    return Case(
        *(m, v, x, *factors, (context, v_context), (whole, wide)),
        *((part, sign * (narrow + 4)), rng.normal(0, 2, (5, D))),
    )


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
        found = np.array([gaps(case(rng, D, sign), OF) for sign in (-1, 1, -1, 1)])
        for equation, gap in zip(EQUATIONS, found.T, strict=True):
            assert (gap.min() > 0.01) if equation in WRONG else (gap.max() < 1e-7), equation


@pytest.mark.parametrize("D", [1, 2])
def test_the_scale_as_printed_lacks_the_constant_of_a_gaussian(D: int) -> None:
    """The exact moments, which make v_n, are those of a mixture of two Gaussians."""
    one = case(np.random.default_rng(4), D, 1)
    m, v, x = one.m, one.v, one.x
    signal = (1 - OF.w) * stats.multivariate_normal(m, (v + 1) * np.eye(D)).pdf(x)
    noise = OF.w * stats.multivariate_normal(np.zeros(D), OF.a * np.eye(D)).pdf(x)
    rho, shift = signal / (signal + noise), v / (v + 1) * (x - m)
    within = rho * v / (v + 1) + (1 - rho) * v
    variance = within + rho * (1 - rho) * shift @ shift / D
    v_n = 1 / (1 / variance - 1 / v)
    found = dict(zip(EQUATIONS, gaps(one, OF), strict=True))["10.222"]
    assert_allclose(found, abs((2 * np.pi * v_n + 0j) ** (-D / 2) - 1), rtol=1e-6)


def test_the_gap_of_a_cavity_is_how_far_logarithms_are_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The whole is multiplied by exp(3 theta_1)."""
    one = case(np.random.default_rng(5), 2, -1)

    def off(theta: Floats, m: Floats, v: complex) -> Floats:
        return normal(theta, m, v) * np.exp(3 * theta[:, 0] * (v == one.whole[1]))

    monkeypatch.setattr(clutter_equations, "normal", off)
    found = dict(zip(EQUATIONS, gaps(one, OF), strict=True))["10.214 and 10.215"]
    assert_allclose(found, 3 * np.ptp(one.places[:, 0]), rtol=1e-10)
