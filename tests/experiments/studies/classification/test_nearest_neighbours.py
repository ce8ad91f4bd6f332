"""Nearest neighbours: maps and cross-validation by scikit-learn, kernels, and invalid settings."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.neighbors import KNeighborsClassifier

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.classification.nearest_neighbours import NearestNeighbours


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"ks": [71]}, "70 points"),
        ({"data": "fcml-disc-train", "ks": [42]}, "41 points"),
        ({"ks": [5, 1]}, "ascending"),
        ({"centres": [[0.0, 0.0]]}, "each cloud"),
        ({"sizes": [5]}, "each cloud"),
        ({"classes": [1, 1]}, "both classes"),
        ({"low": [0.0]}, "two numbers"),
        ({"data": "pen-digits"}, "two attributes and a class"),
        ({"partitions": 1, "folds": 2, "ks": [36]}, "study.folds=2"),
        ({"partitions": 1, "folds": 71, "ks": [70]}, "study.folds=71"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        NearestNeighbours(**knobs)  # type: ignore[arg-type]


def test_the_map_is_that_of_scikit_learn(run: Callable[..., Any]) -> None:
    study = NearestNeighbours(ks=[3], flipped=2, repetitions=2, step=0.5)
    outcome = run(study)
    X, t = outcome["inputs"].values, outcome["label"].values
    assert (t != np.repeat([0, 1], study.sizes)).sum() == 2
    region = outcome["region"].sel(k=3, kernel="none")
    grid = np.stack(np.meshgrid(region.coord("x1"), region.coord("x2")), axis=-1).reshape(-1, 2)
    theirs = KNeighborsClassifier(3).fit(X, t).predict(grid)
    assert_array_equal(region.values.ravel(), theirs == 1)
    area = outcome["area"].sel(k=3, kernel="none", repetition=0).item
    assert area == pytest.approx((theirs == 1).mean())


def test_votes_of_a_class_that_cannot_win(run: Callable[..., Any]) -> None:
    outcome = run(NearestNeighbours(sizes=[50, 10], ks=[19, 20, 21], repetitions=3))
    assert outcome["area"].sel(k=21).values.max() == 0  # FCML 5.3.1.1
    assert outcome["area"].sel(k=19).values.max() > 0


def test_kernels_decide_as_they_should(run: Callable[..., Any]) -> None:
    kernels = ["none", "linear", "gaussian", "polynomial"]
    near = {"high": [3.0, 3.0], "step": 0.5}  # far away the Gaussian kernel underflows
    outcome = run(NearestNeighbours(data="fcml-disc-train", ks=[3], kernels=kernels, **near))  # type: ignore[arg-type]
    plain = outcome["region"].sel(k=3, kernel="none").values
    for name in ("linear", "gaussian"):  # their distances grow with the plain one
        assert_array_equal(outcome["region"].sel(k=3, kernel=name).values, plain)
    polynomial = outcome["region"].sel(k=3, kernel="polynomial").values
    assert (polynomial != plain).any()


def test_leave_one_out_by_a_plain_loop(run: Callable[..., Any]) -> None:
    study = NearestNeighbours(
        sizes=[30, 10],
        ks=[1, 3, 5],
        folds=40,
        partitions=1,
        repetitions=2,
    )
    outcome = run(study)
    X, t = outcome["inputs"].values, outcome["label"].values
    wrong = [
        KNeighborsClassifier(5).fit(np.delete(X, n, 0), np.delete(t, n)).predict(X[n][None])[0]
        != t[n]
        for n in range(40)
    ]
    error = outcome["cross_validation_error"].sel(k=5, repetition=0).item
    assert error == pytest.approx(np.mean(wrong))
