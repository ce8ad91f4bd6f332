"""Counts by arithmetic, losses by np.polyfit, and the one partition into single points."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.regression.cross_validation_cost import CrossValidationCost

STUDY = CrossValidationCost(n=12, folds=[3, 4], partitions=5)


def run(study: CrossValidationCost) -> Outcome:
    return study.run(generator(study.name, 0))


def test_fits_are_counted() -> None:
    outcome = run(STUDY)
    assert outcome.tables["folds"]["fits"] == [3, 4, 12]
    assert_allclose(outcome.tables["folds"]["points_trained_on"], [2, 3, 11], rtol=1e-12)
    assert outcome.metrics["loo_fits_as_often_as_points"] is True
    assert outcome.metrics["percent_left_out_4_folds"] == 25


def test_leave_one_out_is_a_plain_loop_and_repeating_it_changes_nothing() -> None:
    outcome = run(STUDY)
    x, t = (part[0] for part in STUDY.sample(generator(STUDY.name, 0), 1))
    errors = []
    for n in range(12):
        others = np.arange(12) != n
        errors.append((t[n] - Polynomial.fit(x[others], t[others], 3)(x[n])) ** 2)
    assert_allclose(outcome.arrays["losses"][-1], np.mean(errors), rtol=1e-9)
    assert outcome.metrics["repeating_loo_changes_it"] is False
    assert outcome.metrics["repeating_folds_changes_it"] is True
    assert outcome.metrics["shortcut_is_exact"] is True


def test_the_figure_is_drawn() -> None:
    with style("screen"):
        assert list(STUDY.draw(run(STUDY))) == ["cost"]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"folds": [20]}, "folds=.*20 points; allowed: < 20"),
        ({"folds": []}, "is empty"),
        ({"folds": [2], "order": 10}, "fits to 10 points"),
        ({"partitions": 1}, "study.partitions"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        CrossValidationCost(**knobs)  # type: ignore[arg-type]
