"""Margins of linear machines against scikit-learn."""

import numpy as np
import pytest
from sklearn.svm import SVC

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.classification.svm_margin import SvmMargin


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"stray": [1.0]}, "study.stray"),
        ({"costs": [0.1, 1.0]}, "descending"),
        ({"primal": True}, "needs study.costs"),
        ({"centres": [[0.0]]}, "two places"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        SvmMargin(**knobs)  # type: ignore[arg-type]


def test_lines_are_those_of_scikit_learn() -> None:
    study = SvmMargin(stray=[2.0, 1.0], costs=[1.0, 0.01], primal=True, repetitions=8)
    outcome = study.run(generator(study.name, 0))
    a = outcome.arrays
    for name, C in (("hard", 1e6), ("1", 1.0), ("0.01", 0.01)):
        theirs = SVC(kernel="linear", C=C, tol=1e-8).fit(a["X"], a["t"])
        line = [*theirs.coef_[0], theirs.intercept_[0]]
        np.testing.assert_allclose(a[f"line_{name}"], line, rtol=1e-3)
        np.testing.assert_array_equal(np.flatnonzero(a[f"support_{name}"]), theirs.support_)
    assert [2.0, 1.0] in a["X"].tolist()
    assert outcome.metrics["primal_and_dual_agree_c_1"] is True
    assert outcome.metrics["duality_gap_is_zero_c_0.01"] is True
    assert outcome.metrics["others_can_be_discarded"] is True
    assert list(study.draw(outcome)) == ["margin"]


def test_points_that_no_line_separates_are_refused() -> None:
    study = SvmMargin(centres=[[0.0, 0.0], [0.0, 0.0]], repetitions=2)
    with pytest.raises(BadInput, match="separated"):
        study.run(generator(study.name, 0))
    study = SvmMargin(stray=[-50.0, 0.0], repetitions=2)
    with pytest.raises(BadInput, match=r"study\.stray"):
        study.run(generator(study.name, 0))
