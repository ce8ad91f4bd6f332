"""The most probable weights and what they predict: knob rules; scipy, loops and plain sums."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from experiments.contract.errors import BadInput
from experiments.studies.classification.logistic_posterior import LogisticPosterior
from models.datasets import load


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": "old-faithful"}, "a class, 0 or 1"),
        ({"data": "fcml-disc-train"}, "a class, 0 or 1"),
        ({"start": [0.0]}, "study.start"),
        ({"new": [0.0, float("inf")]}, "study.new"),
        ({"sigma2": 0.0}, "study.sigma2"),
        ({"tol": 0.0}, "study.tol"),
        ({"samples": 0}, "study.samples"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        LogisticPosterior(**knobs)  # type: ignore[arg-type]


def test_the_most_probable_weights_by_scipy(run: Callable[..., Any]) -> None:
    outcome = run(LogisticPosterior(tol=1e-14))
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
    at_new = outcome["probability_at_new"].at(estimate="point").item
    assert_allclose(at_new, 1 / (1 + np.exp(3 * best[0] - 5 * best[1])), rtol=1e-4)
    fitted = 1 / (1 + np.exp(-X @ best))
    assert_allclose(outcome["fitted_probability"], fitted, rtol=1e-3)
    assert_allclose(outcome["mean_fitted_probability"].values[0], fitted[:20].mean(), rtol=1e-4)
    assert_allclose(outcome["start_end"].values, np.broadcast_to(best, (441, 2)), rtol=1e-4)
    assert outcome["largest_curvature"].values.max() < 0
    assert outcome["start_largest_curvature"].values.max() < 0


def test_predictions_by_plain_sums(run: Callable[..., Any]) -> None:
    outcome = run(LogisticPosterior(tol=1e-20, samples=20_000))
    matrix = load("fcml-logistic").matrix
    X, t = matrix[:, :2], matrix[:, 2]
    axis = np.arange(-8.0, 22.0, 0.1)  # the posterior on a plain grid of one's own
    g = np.zeros((len(axis), len(axis)))
    for x, target in zip(X, t, strict=True):
        P = 1 / (1 + np.exp(-(x[0] * axis[:, None] + x[1] * axis)))
        g += np.log(P if target == 1 else 1 - P + 1e-300)
    g -= (axis[:, None] ** 2 + axis**2) / 20
    p = np.exp(g - g.max())
    p /= p.sum()
    at_new = 1 / (1 + np.exp(-(-3 * axis[:, None] + 5 * axis)))
    assert_allclose(outcome["exact_probability_at_new"].item, (p * at_new).sum(), rtol=1e-3)
    # samples agree with the integral that they stand for
    maps = outcome["probability_map"]
    averaged, sampled = maps.at(estimate="averaged").values, maps.at(estimate="sampled").values
    assert_allclose(averaged, sampled, atol=0.02)
    lines = outcome["boundary"].values
    assert lines.shape == (20, 2)
    assert_allclose(outcome["boundary_output_at_new"], lines @ [-3, 5])
    near = outcome["distance_to_data"]
    corner = np.array([near.along("x1")[0], near.along("x2")[0]])
    assert_allclose(near.values[0, 0], np.linalg.norm(X - corner, axis=1).min())


def test_a_climb_that_is_cut_short_has_not_converged(run: Callable[..., Any]) -> None:
    outcome = run(LogisticPosterior(max_steps=2))
    assert len(outcome["path"]) == 3
    assert np.abs(outcome["gradient"].values[-1]).max() > 1e-3
    assert not outcome["start_converged"].values.all()
