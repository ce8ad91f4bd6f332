"""Margins of linear machines against scikit-learn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC

from experiments.contract.errors import BadInput
from experiments.studies.classification.svm_margin import SvmMargin


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"stray": [1.0]}, "study.stray"),
        ({"costs": [0.1, 1.0]}, "descending"),
        ({"centres": [[0.0]]}, "two places"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        SvmMargin(**knobs)  # type: ignore[arg-type]


def test_lines_are_those_of_scikit_learn(run: Callable[..., Any]) -> None:
    outcome = run(SvmMargin(stray=[2.0, 1.0], costs=[1.0, 0.01], repetitions=8))
    X, t = outcome["inputs"].values, outcome["label"].values
    for name, C in (("hard", 1e6), ("C = 1", 1.0), ("C = 0.01", 0.01)):
        theirs = SVC(kernel="linear", C=C, tol=1e-8).fit(X, t)
        line = [*theirs.coef_[0], theirs.intercept_[0]]
        assert_allclose(outcome["line"].at(machine=name), line, rtol=1e-3)
        support = np.flatnonzero(outcome["support"].at(machine=name).values)
        assert_array_equal(support, theirs.support_)
        count = outcome["support_vectors"].at(machine=name, repetition=0).item
        assert count == len(theirs.support_)
    assert [2.0, 1.0] in X.tolist()
    assert outcome["refit_gap"].values.max() < 1e-5
    primal, dual = outcome["primal_objective"].values, outcome["dual_objective"].values
    assert_allclose(primal, dual, rtol=1e-6)
    assert_allclose(outcome["primal_optimum"], dual[:, 0], rtol=1e-6)
    w = outcome["line"].at(machine="C = 1").values[:2]
    assert_allclose(outcome["primal_line"].at(cost=1).values[:2], w, rtol=1e-4)


def test_the_margin_of_two_points_by_hand(run: Callable[..., Any]) -> None:
    outcome = run(SvmMargin(repetitions=4))
    X, t = outcome["inputs"].values, outcome["label"].values
    w1, w2, b = outcome["line"].at(machine="hard").values
    distances = t * (X @ [w1, w2] + b) / np.hypot(w1, w2)
    nearest = outcome["nearest_distance"].at(machine="hard", repetition=0).item
    assert nearest == pytest.approx(distances.min())
    assert outcome["weight_norm"].at(machine="hard", repetition=0).item == pytest.approx(
        np.hypot(w1, w2)
    )
    assert "primal_objective" not in outcome


def test_points_that_no_line_separates_are_refused(run: Callable[..., Any]) -> None:
    with pytest.raises(BadInput, match="separates no set"):
        run(SvmMargin(centres=[[0.0, 0.0], [0.0, 0.0]], repetitions=2))
    with pytest.raises(BadInput, match=r"study\.stray"):
        run(SvmMargin(stray=[-50.0, 0.0], repetitions=2))
