"""Linear support vector machines against scikit-learn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.classification.support_vectors import SupportVectors


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"stray": [1.0]}, "study.stray"),
        ({"centres": [[0.0]]}, "two numbers"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        SupportVectors(**knobs)  # type: ignore[arg-type]


def test_lines_are_those_of_scikit_learn(run: Callable[..., Any]) -> None:
    outcome = run(SupportVectors(stray=[2.0, 1.0], costs=[1.0, 0.01], repetitions=8))
    X, t = outcome["inputs"].values, outcome["label"].values
    for name, C in (("hard", 1e6), ("C = 1", 1.0), ("C = 0.01", 0.01)):
        theirs = SVC(kernel="linear", C=C, tol=1e-8).fit(X, t)
        line = [*theirs.coef_[0], theirs.intercept_[0]]
        assert_allclose(outcome["line"].sel(machine=name, repetition=0), line, rtol=1e-3)
        support = np.flatnonzero(outcome["support"].sel(machine=name, repetition=0).values)
        assert_array_equal(support, theirs.support_)
    stray = X.tolist().index([2.0, 1.0])
    influence = outcome["alpha"].sel(machine="hard", repetition=0, point=stray).item
    assert outcome["stray_alpha"].sel(repetition=0).item == influence
    assert outcome["line_before"].values.shape == (len(outcome.axes["repetition"]), 3)
    plain = run(SupportVectors(repetitions=8))  # the same points without the move
    line = plain["line"].sel(machine="hard").values
    rows = outcome["line_before"].values
    assert all(np.isclose(line, row).all(axis=1).any() for row in rows)
    expected = (4 * rows[:, 0] + 4 * rows[:, 1] + rows[:, 2]) / np.hypot(rows[:, 0], rows[:, 1])
    assert_allclose(outcome["distance_before"], expected)


def test_distance_of_the_centre_by_hand(run: Callable[..., Any]) -> None:
    outcome = run(SupportVectors(repetitions=4))
    w1, w2, b = outcome["line"].sel(machine="hard", repetition=0).values
    centre = outcome["distance_of_centre"].sel(machine="hard", repetition=0).item
    assert centre == pytest.approx((4 * w1 + 4 * w2 + b) / np.hypot(w1, w2))
    assert outcome["stray_alpha"].values.tolist() == [0.0] * 4


def test_points_that_no_line_separates_are_refused(run: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match="separates no set"):
        run(SupportVectors(centres=[[0.0, 0.0], [0.0, 0.0]], repetitions=2))
    with pytest.raises(InputError, match=r"study\.stray"):
        run(SupportVectors(stray=[-50.0, -50.0], repetitions=2))
