"""Study `bayesian_curve`: invalid settings, and data in order of arrival."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.registry import figures
from bythebook.experiments.studies.regression.bayesian_curve import BayesianCurve

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"data": "curve-fitting", "observed": [11]}, "at most 10"),
        ({"observed": [2, 1]}, "ascending"),
    ],
)
def test_refused(knobs: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        BayesianCurve(**knobs)


def test_the_posterior_by_adding_up_a_grid_of_weights(run: Run) -> None:
    found = run(BayesianCurve(n=5, functions=2, alpha=2.0, observed=[0, 5]))
    assert found["weight_mean"].values[0].tolist() == [0, 0]
    np.testing.assert_allclose(found["weight_covariance"].values[0], np.eye(2) / 2)
    mean, S = found["weight_mean"].values[1], found["weight_covariance"].values[1]
    sides = mean[:, None] + 9 * np.sqrt(np.diag(S))[:, None] * np.linspace(-1, 1, 401)
    w = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1)
    x, t = found["inputs"].values, found["targets"].values
    residuals = t - w[..., :1] - w[..., 1:] * x
    log_p = -((w**2).sum(-1) * 2 + 11.1 * (residuals**2).sum(-1)) / 2
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    np.testing.assert_allclose(np.einsum("ij,ijd->d", p, w), mean, atol=1e-6)
    away = w - mean
    np.testing.assert_allclose(np.einsum("ij,ijd,ije->de", p, away, away), S, atol=1e-6)
    curve = p[..., None] * (w[..., :1] + w[..., 1:] * found["prediction"].coord("x")[:3])
    np.testing.assert_allclose(found["prediction"].values[1, :3], curve.sum((0, 1)), atol=1e-6)


def test_gaussian_functions_and_their_kernel(run: Run) -> None:
    knobs: dict[str, Any] = {"basis": "gaussians", "functions": 4, "width": 0.3}
    study = BayesianCurve(n=8, observed=[8], **knobs)
    found = run(study)
    kernel, order = found["kernel"], np.argsort(found["inputs"].values)
    assert kernel.coord("target").tolist() == found["inputs"].values[order].tolist()
    mean = kernel.values @ found["targets"].values[order]
    np.testing.assert_allclose(mean, found["prediction"].values[0], atol=1e-9)
    at, S = study.phi(found["prediction"].coord("x")), found["weight_covariance"].values[0]
    variance = 1 / 11.1 + np.einsum("gi,ij,gj->g", at, S, at)
    np.testing.assert_allclose(found["prediction_sd"].values[0] ** 2, variance, rtol=1e-9)
    assert list(figures(study, found)) == ["prediction", "weights"]
