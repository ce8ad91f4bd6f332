"""Support vector machines, linear and with Gaussian kernels, against scikit-learn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.classification.support_vectors import SupportVectors
from bythebook.models.datasets import load


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"stray": [1.0]}, "study.stray"),
        ({"centres": [[0.0]]}, "two numbers"),
        ({"gammas": [1.0], "show": ["data"]}, "needs one of study.costs"),
        ({"gammas": [1.0], "costs": [1.0], "test": "pen-digits"}, "two attributes"),
        ({"show": ["data"]}, "a margin is drawn"),
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
    influence = outcome["influence"].sel(machine="hard", repetition=0, point=stray).item
    assert outcome["stray_influence"].sel(repetition=0).item == influence
    assert outcome["line_before"].values.shape == (len(outcome.axes["repetition"]), 3)
    assert outcome["refit_gap"].values.max() < 1e-5
    primal, dual = outcome["primal_objective"].values, outcome["dual_objective"].values
    assert_allclose(primal, dual, rtol=1e-6)
    assert_allclose(outcome["primal_optimum"], dual[:, 0], rtol=1e-6)
    w = outcome["line"].sel(machine="C = 1", repetition=0).values[:2]
    assert_allclose(outcome["primal_line"].sel(cost=1).values[:2], w, rtol=1e-4)


def test_the_margin_of_two_points_by_hand(run: Callable[..., Any]) -> None:
    outcome = run(SupportVectors(repetitions=4))
    X, t = outcome["inputs"].values, outcome["label"].values
    w1, w2, b = outcome["line"].sel(machine="hard", repetition=0).values
    distances = t * (X @ [w1, w2] + b) / np.hypot(w1, w2)
    nearest = outcome["nearest_distance"].sel(machine="hard", repetition=0).item
    assert nearest == pytest.approx(distances.min())
    centre = outcome["distance_of_centre"].sel(machine="hard", repetition=0).item
    assert centre == pytest.approx((4 * w1 + 4 * w2 + b) / np.hypot(w1, w2))
    assert outcome["widest_margin"].sel(repetition=0).item == pytest.approx(nearest)
    gap = outcome["stationarity_gap"]
    assert gap.sel(sign="plus").values.max() < 1e-6
    assert gap.sel(sign="minus").values.min() > 0.1
    assert "primal_objective" not in outcome


def test_points_that_no_line_separates_are_refused(run: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match="separates no set"):
        run(SupportVectors(centres=[[0.0, 0.0], [0.0, 0.0]], repetitions=2))
    with pytest.raises(InputError, match=r"study\.stray"):
        run(SupportVectors(stray=[-50.0, -50.0], repetitions=2))


def test_kernel_machines_are_those_of_scikit_learn(run: Callable[..., Any]) -> None:
    gammas, files = [0.01, 1.0, 50.0], {"data": "fcml-disc-train", "test": "fcml-disc-test"}
    outcome = run(SupportVectors(gammas=gammas, costs=[10.0], show=["data"], **files))  # type: ignore[arg-type]
    train, test = (load(name).matrix for name in files.values())
    for gamma in gammas:
        model = SVC(gamma=gamma, C=10.0, tol=1e-8).fit(train[:, :2], train[:, 2])
        score = model.decision_function(test[:, :2])
        assert outcome["support"].sel(gamma=gamma).values.sum() == len(model.support_)
        b = outcome["bias"].sel(gamma=gamma, rule="free", repetition=0).item
        called = (outcome["score"].sel(gamma=gamma).values + b > 0).mean()
        assert called == pytest.approx((score > 0).mean(), abs=2e-3)
    assert outcome["separable"].values.tolist() == [False, True]
