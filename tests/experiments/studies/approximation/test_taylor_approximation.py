"""Taylor approximations: knob rules, and errors against the remainder."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.drawing.canvas import style
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


def test_the_exponential() -> None:
    study = TaylorApproximation()
    outcome = study.run(generator(study.name, 0))
    found = outcome.metrics
    assert_allclose(found["largest_error_0"], np.exp(2) - 1, rtol=1e-12)
    assert_allclose(found["largest_error_3"], np.exp(2) - (1 + 2 + 2 + 8 / 6), rtol=1e-12)
    assert found["error_falls_with_order"] is True
    assert found["between_0_and_1"] is False
    with style("screen"):
        assert list(study.draw(outcome)) == ["function"]


def test_the_sigmoid() -> None:
    study = TaylorApproximation(function="sigmoid", orders=[], low=-5, high=5)
    outcome = study.run(generator(study.name, 0))
    found = outcome.metrics
    assert found["value_at_point"] == 0.5
    assert_allclose(found["value_at_high"], 1 / (1 + np.exp(-5)), rtol=1e-12)
    assert found["between_0_and_1"] is True
    assert "error_falls_with_order" not in found
    with style("screen"):
        assert list(study.draw(outcome)) == ["function"]
    # Beyond the radius of convergence, pi, more terms do not help.
    wide = TaylorApproximation(function="sigmoid", orders=[1, 3, 5], low=-6, high=6)
    assert wide.run(generator(wide.name, 0)).metrics["error_falls_with_order"] is False
