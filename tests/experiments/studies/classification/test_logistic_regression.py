"""The most probable weights and what they predict: knob rules; scipy, loops and plain sums."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn import linear_model

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.classification.logistic_regression import (
    LogisticRegression,
    design,
)
from bythebook.models.datasets import load


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": "pen-digits"}, "two attributes and a class"),
        ({"data": "fcml-disc-train"}, "a class, 0 or 1"),
        ({"new": [0.0, float("inf")]}, "study.new"),
        ({"sigma2": 0.0}, "study.sigma2"),
        ({"tol": 0.0}, "study.tol"),
        ({"samples": 0}, "study.samples"),
        ({"data": None, "sizes": [5]}, "each cloud"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        LogisticRegression(**knobs)  # type: ignore[arg-type]


def test_the_most_probable_weights_by_scipy(run: Callable[..., Any]) -> None:
    outcome = run(LogisticRegression(tol=1e-14))
    matrix = load("fcml-logistic").matrix
    X, t = matrix[:, :2], matrix[:, 2]

    def minus_log_posterior(w: np.ndarray) -> float:
        P = 1 / (1 + np.exp(-X @ w))
        return float(w @ w / 20 - np.log(np.where(t == 1, P, 1 - P)).sum())

    best = minimize(minus_log_posterior, np.zeros(2), method="BFGS", options={"gtol": 1e-8}).x
    path = outcome["path"].values
    assert_allclose(path[-1], best, rtol=1e-5)
    assert path[0].tolist() == [0, 0]
    assert_allclose(outcome["gradient"].values[-1], 0, atol=1e-7)
    at_new = outcome["probability_at"].sel(features="plain", estimate="point", place="new").item
    assert_allclose(at_new, 1 / (1 + np.exp(3 * best[0] - 5 * best[1])), rtol=1e-4)
    fitted = 1 / (1 + np.exp(-X @ best))
    assert_allclose(outcome["fitted_probability"].values[0], fitted, rtol=1e-3)
    middle = (X[:20].mean(0) + X[20:].mean(0)) / 2  # rows are sorted by class
    half_way = outcome["probability_at"].sel(features="plain", estimate="point", place="half way")
    assert_allclose(half_way.item, 1 / (1 + np.exp(-middle @ best)), rtol=1e-4)
    assert_allclose(outcome["start_end"].values, np.broadcast_to(best, (441, 2)), rtol=1e-4)


def test_predictions_by_plain_sums(run: Callable[..., Any]) -> None:
    outcome = run(LogisticRegression(tol=1e-20, samples=20_000, samplings=3))
    matrix = load("fcml-logistic").matrix
    X, t = matrix[:, :2], matrix[:, 2]
    w = outcome["path"].values[-1]
    P = 1 / (1 + np.exp(-X @ w))
    S = np.linalg.inv((X.T * (P * (1 - P))) @ X + np.eye(2) / 10)  # FCML 4.13
    axis = np.arange(-10.0, 22.0, 0.1)  # the Laplace approximation on a plain grid
    v = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1) - w
    p = np.exp(-((v @ np.linalg.inv(S)) * v).sum(-1) / 2)
    p /= p.sum()
    at_new = 1 / (1 + np.exp(-(-3 * axis[:, None] + 5 * axis)))
    averaged = outcome["probability_at"].sel(features="plain", estimate="averaged", place="new")
    assert_allclose(averaged.item, (p * at_new).sum(), rtol=1e-3)
    # samples agree with the integral that they estimate
    maps = outcome["probability_map"].sel(features="plain")
    mean, sampled = maps.sel(estimate="averaged").values, maps.sel(estimate="sampled").values
    assert_allclose(mean, sampled, atol=0.02)
    point = 1 / (1 + np.exp(-outcome["log_odds_map"].sel(features="plain").values))
    assert_allclose(maps.sel(estimate="point"), point, rtol=1e-12)
    lines = outcome["boundary"].sel(features="plain").values
    assert lines.shape == (20, 5)  # of which the plain weights are the second and third
    output = outcome["boundary_output_at_new"].sel(features="plain").values
    assert_allclose(output[0], lines[:, 1:3] @ [-3, 5])
    assert np.unique(output).size == 60  # every sampling has its own lines
    wrong = ((lines[0, 1:3] * X).sum(1) > 0) != (t == 1)
    error = outcome["class_error"].sel(features="plain", sampling=0, boundary=0).values
    assert error.tolist() == [wrong[t == 0].mean(), wrong[t == 1].mean()]
    again = outcome["sampled_probability"].sel(features="plain", place="new").values
    assert_allclose(again, averaged.item, atol=0.02)
    first = outcome["probability_at"].sel(features="plain", estimate="sampled", place="new").item
    assert again[0] == first
    near = outcome["distance_to_data"]
    corner = np.array([near.coord("x1")[0], near.coord("x2")[0]])
    assert_allclose(near.values[0, 0], np.linalg.norm(X - corner, axis=1).min())


def test_logistic_weights_are_those_of_scikit_learn(run: Callable[..., Any]) -> None:
    study = LogisticRegression(data=None, repetitions=2, features=["linear", "quadratic"])
    outcome = run(study)
    X, t = outcome["inputs"].values, outcome["label"].values
    for features, many in (("linear", 3), ("quadratic", 5)):
        Phi = design(X)[:, :many]
        model = linear_model.LogisticRegression(
            C=10.0, fit_intercept=False, tol=1e-10, max_iter=5000
        )
        model.fit(Phi, t)
        w = outcome["map_weight"].sel(features=features, repetition=0).values
        assert_allclose(w[:many], model.coef_[0], rtol=1e-3, atol=1e-4)
        assert not w[many:].any()
        accuracy = outcome["training_accuracy"].sel(features=features, repetition=0).item
        assert accuracy == pytest.approx(model.score(Phi, t))
        p = outcome["probability_map"].sel(features=features, estimate="point")
        corner = design(np.array([[p.coord("x1")[0], p.coord("x2")[-1]]]))[:, :many]
        assert_allclose(p.values[-1, 0], 1 / (1 + np.exp(-corner @ w[:many]))[0], rtol=1e-9)
