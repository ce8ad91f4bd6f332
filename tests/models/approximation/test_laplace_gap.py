"""Laplace's integral is exact for two Gaussian factors, and not for sigmoids."""

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import multivariate_normal, norm

from bythebook.models.approximation import laplace_gap

PHI = np.column_stack([np.ones(3), [-1.0, 0.5, 2.0]])
T = np.array([-0.5, 0.8, -1.0])


def test_two_gaussians_are_integrated_exactly() -> None:
    right = multivariate_normal(np.zeros(3), np.eye(3) + PHI @ PHI.T).logpdf(T)
    laplace, summed = laplace_gap.integrals(PHI, T, "gaussian")
    assert laplace == pytest.approx(right, abs=1e-6)
    assert summed == pytest.approx(right, abs=1e-9)


def _log_joint(w: np.ndarray) -> float:
    likelihood = np.log(expit(np.sign(T) * (PHI @ w))).sum()
    return float(likelihood + norm.logpdf(w).sum())


def test_the_product_point_by_point() -> None:
    w = np.array([[0.3, -0.7], [1.5, 0.2]])
    found = laplace_gap.log_product(w, PHI, T, "sigmoid")
    assert found == pytest.approx([_log_joint(one) for one in w], abs=1e-12)
    found = laplace_gap.log_product(w, PHI, T, "gaussian")
    right = [norm.logpdf(T - PHI @ one).sum() + norm.logpdf(one).sum() for one in w]
    assert found == pytest.approx(right, abs=1e-12)


def test_sigmoids_by_adaptive_quadrature_and_the_hessian() -> None:
    laplace, summed = laplace_gap.integrals(PHI, T, "sigmoid")
    whole = dblquad(lambda b, a: np.exp(_log_joint(np.array([a, b]))), -7, 7, -7, 7, epsabs=1e-9)
    assert summed == pytest.approx(np.log(whole[0]), abs=1e-6)
    mode = minimize(lambda w: -_log_joint(w), np.zeros(2), tol=1e-10).x
    s = expit(PHI @ mode)
    A = (PHI.T * (s * (1 - s))) @ PHI + np.eye(2)
    right = _log_joint(mode) + np.log(2 * np.pi) - np.log(np.linalg.eigvalsh(A)).sum() / 2
    assert laplace == pytest.approx(right, abs=1e-6)
    assert abs(laplace - summed) > 1e-4
