"""Gradients against SciPy's differences, costs against counting by hand."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from bythebook.models.networks import backpropagation as back
from bythebook.models.networks.backpropagation import Weights


@pytest.mark.parametrize("kind", back.OUTPUTS)
@pytest.mark.parametrize("activation", back.ACTIVATIONS)
def test_gradient_is_that_of_the_error(kind: str, activation: str) -> None:
    rng = np.random.default_rng(0)
    x, V, W = rng.standard_normal((4, 2)), rng.standard_normal((3, 2)), rng.standard_normal((2, 4))
    t = np.eye(2)[[0, 1, 1, 0]] if kind != "regression" else rng.standard_normal((4, 2))

    def error(flat: np.ndarray) -> float:
        weights = Weights(flat[:6].reshape(3, 2), flat[6:].reshape(2, 4))
        return float(back.error(kind, back.forward(weights, x, activation)[1], t))

    right = approx_fprime(np.concatenate([V.ravel(), W.ravel()]), error, 1e-7)
    found = back.gradient(Weights(V, W), x, t, kind, activation)
    assert np.allclose(np.concatenate([found.V.ravel(), found.W.ravel()]), right, atol=1e-5)


def test_differences_of_a_function_with_a_known_gradient() -> None:
    rng = np.random.default_rng(1)
    at, c = rng.standard_normal((2, 2, 3))
    found = back.differences(lambda batch: (c * np.sin(batch)).sum((-2, -1)), at)
    assert found == pytest.approx(c * np.cos(at), abs=1e-7)


def test_errors_are_negative_log_likelihoods() -> None:
    b, t = np.array([[0.3, -1.0]]), np.array([[1.0, 0.0]])
    p = 1 / (1 + np.exp(-b))
    assert back.error("binary", b, t) == pytest.approx(-np.log(p[0, 0] * (1 - p[0, 1])))
    soft = np.exp(0.3) / (np.exp(0.3) + np.exp(-1))
    assert back.error("multi-class", b, t) == pytest.approx(-np.log(soft))
    assert back.error_as_printed("multi-class", b, t) == pytest.approx(-np.log(soft))
    assert back.error("regression", b, t) == pytest.approx(0.5 * (0.49 + 1))
    assert back.error_as_printed("regression", b, t) == pytest.approx(-1.49)
    assert back.error_as_printed("binary", b, t) == pytest.approx(-np.log(p[0, 0]))


def test_multiplications_of_both_ways() -> None:
    weights, differences = back.difference_operations(3, 4, 2, 5)
    assert weights == 12 + 10
    assert differences == 2 * 22 * (5 * 3 * 4 + 5 * 5 * 2)
    tally = back.Tally()
    ones = Weights(np.ones((4, 3)), np.ones((2, 5)))
    back.gradient(ones, np.ones((5, 3)), np.zeros((5, 2)), "regression", "tanh", tally)
    assert tally.count == 60 + 50 + 5 * 2 * 4 + 4 * 5 * 3 + 2 * 5 * 5


def test_slopes_and_tangents() -> None:
    a = np.array([-1.0, 0.0, 2.0])
    assert back.numerical_slope(np.sin, a) == pytest.approx(np.cos(a), abs=1e-9)
    assert back.derivative("tanh", np.tanh(a)) == pytest.approx(1 / np.cosh(a) ** 2)
    assert back.linear_gap(np.tanh, 0.1) == pytest.approx(0.1**2 / 3, rel=0.01)
