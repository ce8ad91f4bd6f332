"""Study `bayesian_curve`: invalid settings, and data in order of arrival."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.regression.bayesian_curve import BayesianCurve

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"data": "curve-fitting", "observed": [11]}, "at most 10"),
        ({"observed": [2, 1]}, "ascending"),
        ({"grid_check": True, "functions": 3}, "allowed: 2"),
    ],
)
def test_refused(knobs: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        BayesianCurve(**knobs)


def test_without_data_the_belief_is_the_prior(run: Run) -> None:
    found = run(BayesianCurve(n=5, functions=2, alpha=2.0, observed=[0, 5], grid_check=True))
    assert found["weight_mean"].values[0].tolist() == [0, 0]
    np.testing.assert_allclose(found["weight_covariance"].values[0], np.eye(2) / 2)
    np.testing.assert_allclose(found["grid_mean"].values, found["weight_mean"].values, atol=1e-6)
    assert np.abs(found["grid_cumulant"].values).max() < 1e-4


def test_gaussian_functions_and_their_kernel(run: Run) -> None:
    knobs: dict[str, Any] = {"basis": "gaussians", "functions": 4, "width": 0.3}
    found = run(BayesianCurve(n=8, observed=[8], **knobs))
    kernel, t = found["kernel"].values, found["targets"].values
    np.testing.assert_allclose(kernel @ t, found["prediction"].values[0], atol=1e-9)
    ratio = found["drawn_sd"].values / found["prediction_sd"].values
    assert np.abs(ratio - 1).max() < 0.08
