"""Counts by arithmetic, losses by np.polyfit, and the one partition into single points."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.contract.study import generator
from experiments.studies.regression.cross_validation_cost import CrossValidationCost

STUDY = CrossValidationCost(n=12, folds=[3, 4], partitions=5)
Run = Callable[..., Outcome]


def test_fits_are_counted(run: Run) -> None:
    found = run(STUDY)
    assert found["fits"].along("folds").tolist() == [3, 4, 12]
    assert found["fits"].values.tolist() == [3, 4, 12]
    assert_allclose(found["cost"], [2, 3, 11], rtol=1e-12)
    assert_allclose(found["share_left_out"], [1 / 3, 1 / 4, 1 / 12], rtol=1e-12)


def test_leave_one_out_is_a_plain_loop_and_repeating_it_changes_nothing(run: Run) -> None:
    found = run(STUDY)
    x, t = (part[0] for part in STUDY.sample(generator(STUDY.name, 0), 1))
    errors = []
    for n in range(12):
        others = np.arange(12) != n
        errors.append((t[n] - Polynomial.fit(x[others], t[others], 3)(x[n])) ** 2)
    assert_allclose(found["kfold_loss"].at(folds=12), np.mean(errors), rtol=1e-9)
    assert np.all(found["kfold_loss"].values[:-1].std(axis=-1) > 1e-6)
    assert_allclose(found["shortcut_loss"], found["kfold_loss"], rtol=1e-8)


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
