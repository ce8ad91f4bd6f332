"""A posterior as a Gaussian: knob rules, and the outcome against plain sums."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.approximation.laplace_posterior import LaplacePosterior
from models.datasets import load


def run(study: LaplacePosterior) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": None, "weights": [1.0]}, "has 1 weights"),
        ({"new": [1.0]}, "study.new"),
        ({"data": None, "response": "real", "show": ["predictive"]}, "response=binary"),
        ({"samples": 100_000, "repetitions": 10_000}, "samples times"),
        ({"samples": 0}, "study.samples"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        LaplacePosterior(**knobs)  # type: ignore[arg-type]


def test_figures_4_6_and_4_7() -> None:
    study = LaplacePosterior(show=["posterior", "predictive"], repetitions=50)
    outcome = run(study)
    found = outcome.metrics
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
    mean = p.sum(1) @ axis
    assert_allclose(found["mean_1"], mean, rtol=1e-3)
    assert_allclose(found["variance_1"], p.sum(1) @ (axis - mean) ** 2, rtol=2e-3)
    at_new = 1 / (1 + np.exp(-(-3 * axis[:, None] + 5 * axis)))
    assert_allclose(found["exact_probability_at_new"], (p * at_new).sum(), rtol=1e-3)
    # samples agree with the integral that they stand for
    draws = outcome.arrays["sampled_probability_at_new"]
    assert_allclose(draws.mean(), found["laplace_probability_at_new"], atol=0.01)
    assert outcome.arrays["lines"].shape == (20, 2)
    assert found["nearer_half_than_point_estimate"] is True
    with style("screen"):
        assert list(study.draw(outcome)) == ["posterior", "predictive"]


def test_a_linear_regression_is_gaussian_already() -> None:
    study = LaplacePosterior(data=None, response="real", n=30)
    outcome = run(study)
    found = outcome.metrics
    assert found["equals_true_posterior"] is True
    for i in (1, 2):
        assert_allclose(found[f"mean_{i}"], found[f"laplace_mean_{i}"], rtol=1e-8)
        assert_allclose(found[f"variance_{i}"], found[f"laplace_variance_{i}"], rtol=1e-8)
    assert_allclose(found["log_evidence"], found["laplace_log_evidence"], rtol=1e-9)
    assert found["log_error_at_3_sd"] < 1e-9
    with style("screen"):
        assert list(study.draw(outcome)) == ["posterior"]
