"""A network with linear units is a linear model, whose evidence is known."""

import numpy as np
import pytest

from bythebook.models.networks import network_evidence as laplace
from bythebook.models.networks.neural_network import output_jacobian, random_start

SIZES = (1, 2, 1)


def _data(R: int = 3, N: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((R, N, 1))
    return x, np.tanh(x[..., 0]) + 0.1 * rng.standard_normal((R, N))


def test_groups_of_weights() -> None:
    names, which = laplace.groups((3, 2, 1), "inputs")
    assert names == ["x1", "x2", "x3", "b", "w", "c"]
    assert which.tolist() == [0, 1, 2, 0, 1, 2, 3, 3, 4, 4, 5]
    assert laplace.groups((3, 2, 1), "one")[0] == ["all"]


def test_hessian_at_zero_residuals_is_that_of_gauss_and_newton() -> None:
    x, _ = _data()
    theta = random_start(SIZES, 3, np.random.default_rng(1))
    y, J = output_jacobian(theta, SIZES, x)
    H = laplace.data_hessian(theta, SIZES, x, y)
    assert np.allclose(H, np.swapaxes(J, -1, -2) @ J, atol=1e-5)


def test_positive_part() -> None:
    H = np.array([[[1.0, 2.0], [2.0, 1.0]]])  # eigenvalues 3 and -1
    assert np.allclose(laplace.positive_part(H), [[[1.5, 1.5], [1.5, 1.5]]])


def test_well_determined_parameters_by_eigenvalues() -> None:
    rng = np.random.default_rng(2)
    B = rng.standard_normal((2, 5, 5))
    H = B @ np.swapaxes(B, -1, -2)
    alpha, beta = np.array([[0.3], [2.0]]), np.array([1.5, 0.5])
    values = np.linalg.eigvalsh(beta[:, None, None] * H)
    right = (values / (values + alpha)).sum(1)
    which = np.zeros(5, dtype=np.int64)
    assert laplace.well_determined(H, alpha, beta, which)[:, 0] == pytest.approx(right)


def test_fixed_point_and_error_bars() -> None:
    x, t = _data()
    which = laplace.groups(SIZES, "one")[1]
    start = random_start(SIZES, 3, np.random.default_rng(3))
    found = laplace.fit_posterior(start, SIZES, x, t, which, alpha=0.1, beta=50, cycles=30)
    weighted = laplace.weighted_error(found, SIZES, x, t, which)
    rest = found.moved < 1e-3
    assert rest.any()
    assert weighted[rest] == pytest.approx(6.0, abs=0.01)
    mean, variance = laplace.predictive(found, which, SIZES, np.array([[0.0], [9.0]]))
    g = output_jacobian(found.theta, SIZES, np.array([[9.0]]))[1][0, 0]
    inverse = laplace.covariance(found, which)[0]
    assert variance[0, 1] == pytest.approx(1 / found.beta[0] + g @ inverse @ g)
    assert mean.shape == (3, 2)
    alone = laplace.predictive(found, which, SIZES, np.array([[9.0]]), diagonal=True)[1]
    A = np.linalg.inv(inverse)
    assert alone[0, 0] == pytest.approx(1 / found.beta[0] + (g**2 / np.diag(A)).sum())
