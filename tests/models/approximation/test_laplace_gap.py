"""Laplace's integral is exact for two Gaussian factors, and for no other pair."""

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.stats import multivariate_normal

from models.approximation import laplace_gap

PHI = np.column_stack([np.ones(3), [-1.0, 0.5, 2.0]])
T = np.array([-0.5, 0.8, -1.0])


def test_two_gaussians_are_integrated_exactly() -> None:
    assert laplace_gap.gap(PHI, T, "gaussian", "gaussian") == pytest.approx(0, abs=1e-6)
    side = np.linspace(-9, 9, 801)
    plane = np.stack(np.meshgrid(side, side), axis=-1)
    values = laplace_gap.log_product(plane, PHI, T, "gaussian", "gaussian")
    area = np.log(np.exp(values).sum() * (side[1] - side[0]) ** 2)
    right = multivariate_normal(np.zeros(3), np.eye(3) + PHI @ PHI.T).logpdf(T)
    assert area == pytest.approx(right, abs=1e-9)


@pytest.mark.parametrize(
    "pair", [("sigmoid", "gaussian"), ("gaussian", "logistic"), ("sigmoid", "logistic")]
)
def test_other_pairs_are_not(pair: tuple[str, str]) -> None:
    gap = laplace_gap.gap(PHI, T, *pair)
    assert 1e-4 < abs(gap) < 0.5


def test_the_sum_over_the_plane_is_the_integral() -> None:
    def density(b: float, a: float) -> float:
        w = np.array([a, b])
        return float(np.exp(laplace_gap.log_product(w, PHI, T, "sigmoid", "gaussian")))

    whole = dblquad(density, -6, 6, -6, 6, epsabs=1e-6)[0]
    side = np.linspace(-6, 6, 301)
    plane = np.stack(np.meshgrid(side, side), axis=-1)
    values = np.exp(laplace_gap.log_product(plane, PHI, T, "sigmoid", "gaussian"))
    assert values.sum() * (side[1] - side[0]) ** 2 == pytest.approx(whole, rel=1e-5)
