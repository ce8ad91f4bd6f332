"""Densities of variance 1, and entropies that have closed forms."""

import numpy as np
import pytest
from scipy.integrate import quad

from models.probability.densities import UNIT, entropy


@pytest.mark.parametrize("name", UNIT)
def test_mass_and_variance_are_one(name: str) -> None:
    p, end = UNIT[name]
    moments = [2 * quad(lambda x, k=k: x**k * float(p(np.asarray(x))), 0, end)[0] for k in (0, 2)]
    assert moments == pytest.approx([1, 1])


def test_closed_forms() -> None:
    assert entropy("uniform") == pytest.approx(np.log(2 * np.sqrt(3)))
    assert entropy("laplace", 2.0) == pytest.approx(1 + np.log(2 * np.sqrt(2)))
    assert entropy("gaussian", 3.0) == pytest.approx(0.5 * (1 + np.log(18 * np.pi)))
    assert entropy("logistic") == pytest.approx(np.log(np.sqrt(3) / np.pi) + 2)
