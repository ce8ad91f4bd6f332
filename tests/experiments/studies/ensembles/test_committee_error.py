"""Committees against arithmetic, and what the checks would catch."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.studies.ensembles import committee_error
from experiments.studies.ensembles.committee_error import CommitteeError

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"members": [100], "points": 100}, "< study.points=100"),
        ({"correlations": [1.5]}, "study.correlations"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        CommitteeError(**knobs)  # type: ignore[arg-type]


def test_ratios_are_those_of_the_formula(run: Run) -> None:
    found = run(CommitteeError(members=[10, 1], correlations=[0.0, 0.5], points=40_000))
    assert found["ratio"].along("members").tolist() == [1, 10]
    assert_allclose(found["expected_ratio"], [[1, 0.1], [1, 0.55]], rtol=1e-12)
    assert_allclose(found["ratio"], found["expected_ratio"], rtol=0.05)
    gap = found["ratio"].values / found["expected_ratio"].values - 1
    assert_allclose(found["ratio_z"], 100 * gap, rtol=1e-9)  # two standard errors: 2 / 200
    assert np.abs(found["ratio_z"]).max() < 4
    assert found["uncorrelated_gap"].values.max() < 1e-12


def test_convex_losses_favour_the_committee_and_others_need_not(run: Run) -> None:
    found = run(CommitteeError(members=[3], correlations=[0.0], points=5000))
    worse = found["committee_loss"].values > found["average_loss"].values * (1 + 1e-12)
    assert found["committee_loss"].along("loss")[-1] == "root"
    assert not worse[:-1].any()
    assert worse[-1].any()  # not convex: the theorem needs it


def test_weights_stay_inside_if_and_only_if_they_are_convex(run: Run) -> None:
    found = run(CommitteeError(members=[3], correlations=[0.0], points=5000))
    assert np.all(found["convex_stays_inside"])
    inside, convex = found["weights_stay_inside"].values, found["weights_are_convex"].values
    assert np.array_equal(inside, convex)
    assert 0.3 < convex.mean() < 0.7
    weights = np.array([[0.5, 0.6], [1.5, -0.5], [0.5, 0.5]])
    between = committee_error._between(weights, np.array([[1.0, 1.0], [0.0, 1.0], [3.0, 4.0]]))
    assert between.tolist() == [False, False, True]
