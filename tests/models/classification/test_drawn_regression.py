"""Drawn data have the means of their model; wrong derivatives are seen."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.classification import drawn_regression
from bythebook.models.classification.drawn_regression import derivative_gaps, draw
from bythebook.models.classification.logistic import RESPONSES

W = np.array([0.5, 0.8])


@pytest.mark.parametrize("response", ["binary", "counts", "real"])
def test_residuals_average_to_zero(response: str) -> None:
    data = draw(W, 50_000, 10.0, response, np.random.default_rng(0))
    a = data.X @ W
    z = (data.t - RESPONSES[response].mean(a)) / np.sqrt(RESPONSES[response].variance(a))
    assert abs(z.mean()) < 4 / np.sqrt(len(z))
    assert_allclose(z.var(), 1, atol=0.05)


@pytest.mark.parametrize("response", ["binary", "counts", "real"])
def test_derivatives_are_right_and_a_wrong_one_is_seen(
    response: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = draw(W, 30, 10.0, response, np.random.default_rng(1))
    w = np.random.default_rng(2).standard_normal((5, 2))
    assert max(derivative_gaps(data, w)) < 1e-5
    right = drawn_regression.hessian
    monkeypatch.setattr(drawn_regression, "hessian", lambda p, w: 1.01 * right(p, w))
    slope, turn = derivative_gaps(data, w)
    H = np.abs(right(data, w))
    assert_allclose(turn, (0.01 * H / (0.1 + 1.01 * H)).max(), rtol=1e-3)
    assert slope < 1e-5
    gradient = drawn_regression.gradient
    monkeypatch.setattr(drawn_regression, "gradient", lambda p, w: 1.01 * gradient(p, w))
    assert_allclose(derivative_gaps(data, w)[0], 0.005 / 1.01, rtol=1e-3)
