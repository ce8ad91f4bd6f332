"""Counting studies against closed forms."""

import math

import pytest

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.probability.worked_numbers import WorkedNumbers


def run(study: WorkedNumbers) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"area": [3.0, 2.0]}, "study.area"),
        ({"support": [3.0]}, "study.support"),
        ({"variables": 16, "outcomes": 6}, "more than a million"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        WorkedNumbers(**knobs)  # type: ignore[arg-type]


def test_lists_have_the_length_of_the_formulas() -> None:
    study = WorkedNumbers(objects=9, variables=5, outcomes=3, area=[-1.0, 4.0], support=[0.0, 0.1])
    outcome = run(study)
    found = outcome.metrics
    assert [found[f"ways_to_choose_{y}"] for y in range(10)] == [math.comb(9, y) for y in range(10)]
    assert [found[f"terms_with_{j}_variables"] for j in range(2, 6)] == [3, 9, 27, 81]
    assert found["area"] == pytest.approx(15)
    assert found["uniform_height"] == pytest.approx(10)
    assert len(study.draw(outcome)["numbers"].axes) == 3
