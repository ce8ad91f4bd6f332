"""Taylor approximations: knob rules, and errors against the remainder."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.studies.approximation.taylor_approximation import TaylorApproximation


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"low": 1.0}, "low <= about <= high"),
        ({"orders": [2, 1]}, "ascending"),
        ({"orders": [-1]}, "study.orders"),
        ({"function": "sine"}, "study.function"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        TaylorApproximation(**knobs)  # type: ignore[arg-type]


def largest_errors(outcome: Any) -> Any:
    return np.abs(outcome["expansion"].values - outcome["function"].values).max(1)


def test_the_exponential(run: Callable[..., Any]) -> None:
    error = largest_errors(run(TaylorApproximation()))
    assert_allclose(error[0], np.exp(2) - 1, rtol=1e-12)
    assert_allclose(error[3], np.exp(2) - (1 + 2 + 2 + 8 / 6), rtol=1e-12)


def test_the_sigmoid(run: Callable[..., Any]) -> None:
    outcome = run(TaylorApproximation(function="sigmoid", orders=[], low=-5, high=5))
    assert outcome["function"].at(w=0).item == 0.5
    assert_allclose(outcome["function"].at(w=5).item, 1 / (1 + np.exp(-5)), rtol=1e-12)
    assert_allclose(outcome["far_function"], [0, 1], atol=1e-200)
    assert "expansion" not in outcome
    # Beyond the radius of convergence, pi, more terms do not help.
    wide = TaylorApproximation(function="sigmoid", orders=[1, 3, 5], low=-6, high=6)
    assert (np.diff(largest_errors(run(wide))) > 0).all()
