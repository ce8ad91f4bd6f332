"""Study `mean_and_precision`: invalid settings, and recorded quantities of each prior."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.mean_and_precision import MeanAndPrecision

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"constants": [0.0, 1.0]}, "four"),
        ({"constants": [0.0, 1.0, -1.0, 1.0]}, "not negative"),
        ({"constants": [0.0] * 4, "points": [1, 3]}, "2 and more"),
        ({"constants": [0.0] * 4, "sweeps": 10}, "proper"),
    ],
)
def test_what_makes_no_sense(knobs: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        MeanAndPrecision(**knobs)


def test_searched_shapes_and_bounds(run: Run) -> None:
    found = run(MeanAndPrecision(points=[6], sets=2, first_precisions=[0.1, 5.0]))
    assert_allclose(found["searched"].sel(of="shape").values, [[4.5, 4.5]], atol=1e-3)
    assert_allclose(found["log_evidence_grid"].values, found["log_evidence"].values, atol=1e-5)
    assert (found["checked_bound"].values < found["log_evidence_grid"].values).all()
    assert (np.diff(found["bound_course"].values, axis=2) > -1e-9).all()


def test_without_a_prior(run: Run) -> None:
    found = run(MeanAndPrecision(constants=[0.0] * 4, points=[4], sets=3))
    assert "shape" not in found
    assert_allclose(found["unbiased_variance"].values, found["biased_variance"].values * 4 / 3)


def test_gibbs_is_recorded_with_its_error(run: Run) -> None:
    knobs: dict[str, Any] = {"prior": "independent", "constants": [0.0, 4.0, 3.0, 2.0]}
    found = run(MeanAndPrecision(**knobs, points=[1], sets=2, sweeps=400))
    off = np.abs(found["gibbs_mean"].values - found["exact_mean"].values)
    assert (off < 6 * found["gibbs_error"].values).all()
