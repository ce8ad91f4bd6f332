"""Densities of variance 1, and entropies that have closed forms."""

import numpy as np
import pytest
from scipy.integrate import quad

from bythebook.models.probability.densities import UNIT, integrals


@pytest.mark.parametrize("name", UNIT)
def test_mass_and_variance_are_one(name: str) -> None:
    p, end = UNIT[name]
    moments = [2 * quad(lambda x, k=k: x**k * float(p(np.asarray(x))), 0, end)[0] for k in (0, 2)]
    assert moments == pytest.approx([1, 1])


@pytest.mark.parametrize("name", UNIT)
def test_area_and_variance_of_a_drawn_out_density(name: str) -> None:
    area, variance, entropy = integrals(name, 3.0)
    assert (area, variance) == pytest.approx((1, 9))
    assert entropy - integrals(name)[2] == pytest.approx(np.log(3))


def test_closed_forms() -> None:
    assert integrals("uniform")[2] == pytest.approx(np.log(2 * np.sqrt(3)))
    assert integrals("laplace", 2.0)[2] == pytest.approx(1 + np.log(2 * np.sqrt(2)))
    assert integrals("gaussian", 3.0)[2] == pytest.approx(0.5 * (1 + np.log(18 * np.pi)))
    assert integrals("logistic")[2] == pytest.approx(np.log(np.sqrt(3) / np.pi) + 2)
