"""Counting against closed forms."""

import math
from collections.abc import Callable

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.probability.worked_numbers import WorkedNumbers


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"area": [3.0, 2.0]}, "study.area"),
        ({"support": [3.0]}, "study.support"),
        ({"variables": 16, "outcomes": [6]}, "more than a million"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        WorkedNumbers(**knobs)  # type: ignore[arg-type]


def test_lists_have_the_length_of_the_formulas(run: Callable[..., Outcome]) -> None:
    study = WorkedNumbers(
        objects=9, variables=5, outcomes=[3, 2], area=[-1.0, 4.0], support=[0.0, 0.1]
    )
    found = run(study)
    assert found["ways_to_choose"].values.tolist() == [math.comb(9, y) for y in range(10)]
    assert found["terms"].values.tolist() == [[3, 9, 27, 81], [2, 4, 8, 16]]
    assert found["area"].item == pytest.approx(15)
    assert found["uniform_height"].item == pytest.approx(10)
    assert found["parameters"].sel(dimension=3).values.tolist() == [9, 6]
    assert found["covariance_entries"].sel(dimension=3).item == 6
