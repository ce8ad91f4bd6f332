"""Sampled posteriors: knob rules, and the outcome against quadrature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.sampling.metropolis_posterior import MetropolisPosterior
from models.classification.logistic import Posterior, predict, quadrature


def run(study: MetropolisPosterior) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"burn_in": 6000}, "study.burn_in"),
        ({"samples": 100_000, "chains": 1000}, "samples times"),
        ({"step_variance": 0.0}, "study.step_variance"),
        ({"chains": 1}, "study.chains"),
        ({"new": [1.0, 2.0, 3.0]}, "study.new"),
        ({"data": None, "weights": [1.0, 2.0, 3.0]}, "has 3 weights"),
        ({"data": None, "response": "counts", "show": ["predictive"]}, "response=binary"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        MetropolisPosterior(**knobs)  # type: ignore[arg-type]


def test_samples_agree_with_quadrature() -> None:
    study = MetropolisPosterior(
        samples=1500, chains=200, burn_in=300, show=["samples", "marginals", "trace", "predictive"]
    )
    outcome = run(study)
    found, arrays = outcome.metrics, outcome.arrays
    posterior = Posterior(arrays["X"], arrays["t"], 10.0)
    exact = quadrature(posterior, np.array([3.0, 3.0]), np.array([20.0, 20.0]), 401)
    mean = exact.probability @ exact.w
    assert_allclose([found["mean_1"], found["mean_2"]], mean, atol=0.15)
    sd = np.sqrt(exact.probability @ (exact.w - mean) ** 2)
    assert_allclose([found["sd_1"], found["sd_2"]], sd, rtol=0.05)
    at_new = exact.probability @ predict(np.array([[-3.0, 5.0]]), exact.w)
    assert_allclose(found["probability_at_new"], at_new, atol=0.02)
    assert found["laplace_probability_at_new"] < found["probability_at_new"]
    assert found["falls_more_slowly_than_laplace"] is True
    assert arrays["probability_draws"].shape == (200,)
    with style("screen"):
        assert list(study.draw(outcome)) == ["samples", "marginals", "trace", "predictive"]


def test_counts_that_are_many_make_laplace_good() -> None:
    study = MetropolisPosterior(
        data=None, response="counts", n=200, samples=3000, burn_in=1000, step_variance=0.01
    )
    found = run(study).metrics
    assert found["largest_mean_gap_in_sd"] < 0.2
    assert found["largest_sd_ratio_gap"] < 0.1
    assert "probability_at_new" not in found
