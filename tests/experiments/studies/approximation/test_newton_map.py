"""The climb to the most probable weights: knob rules, and the outcome against scipy and loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.approximation.newton_map import NewtonMap
from models.datasets import load


def run(study: NewtonMap) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": "old-faithful"}, "no binary response"),
        ({"data": "fcml-kmeans", "response": "counts"}, "no counts"),
        ({"data": "fcml-coin-1000"}, "attributes and a response"),
        ({"data": "fcml-kmeans", "response": "real", "show": ["path"]}, "has 1 weights|1 finite"),
        ({"start": [0.0]}, "study.start"),
        ({"new": [0.0, float("inf")]}, "study.new"),
        ({"data": None, "weights": [1.0, 2.0, 3.0]}, "3 finite numbers"),
        ({"data": None, "response": "counts", "show": ["data"]}, "needs study.response=binary"),
        ({"sigma2": 0.0}, "study.sigma2"),
        ({"tol": 0.0}, "study.tol"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        NewtonMap(**knobs)  # type: ignore[arg-type]


def test_figures_4_3_and_4_4() -> None:
    study = NewtonMap(tol=1e-14, show=["data", "path", "boundary"])
    outcome = run(study)
    found = outcome.metrics
    matrix = load("fcml-logistic").matrix
    X, t = matrix[:, :2], matrix[:, 2]

    def minus_log_posterior(w: np.ndarray) -> float:
        P = 1 / (1 + np.exp(-X @ w))
        return float(w @ w / 20 - np.log(np.where(t == 1, P, 1 - P)).sum())

    best = minimize(minus_log_posterior, np.zeros(2), method="BFGS", options={"gtol": 1e-8}).x
    assert_allclose([found["w_1"], found["w_2"]], best, rtol=1e-5)
    assert_allclose(
        found["expected_at_new"], 1 / (1 + np.exp(3 * best[0] - 5 * best[1])), rtol=1e-4
    )
    fitted = 1 / (1 + np.exp(-X @ best))
    assert found["training_errors"] == int(((fitted > 0.5) != t).sum())
    assert_allclose(found["mean_probability_at_class_0"], fitted[:20].mean(), rtol=1e-4)
    table = outcome.tables["path"]
    assert (table["w_1"][0], table["iteration"][-1]) == (0.0, found["iterations"])
    for name in ("same_maximum_from_every_start", "hessian_negative_definite"):
        assert found[name] is True
    with style("screen"):
        assert list(study.draw(outcome)) == ["data", "path", "boundary"]


def test_a_climb_that_is_cut_short_has_not_converged() -> None:
    found = run(NewtonMap(max_steps=2)).metrics
    assert found["converged"] is False
    assert found["gradient_vanishes"] is False
    assert found["same_maximum_from_every_start"] is False


def test_drawn_counts() -> None:
    study = NewtonMap(data=None, response="counts", n=2000, weights=[0.5, 0.8], starts_reach=0.5)
    found = run(study).metrics
    assert_allclose([found["w_1"], found["w_2"]], [0.5, 0.8], atol=0.08)
    assert found["derivatives_agree"] is True
    assert "training_errors" not in found
    assert study.data_sets() == []
