"""Chains on a Gaussian: knob rules, and the outcome against what is known of the target."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.sampling.metropolis_hastings import MetropolisHastings


def run(study: MetropolisHastings) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"mean": [1.0]}, "study.mean"),
        ({"covariance": [1.0, 2.0, 1.0]}, "positive definite"),
        ({"covariance": [1.0, 0.0]}, "positive definite"),
        ({"samples": 100}, "study.look_at"),
        ({"early": 20_000}, "study.early"),
        ({"samples": 100_000, "chains": 2000}, "samples times"),
        ({"step_variance": 0.0}, "study.step_variance"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        MetropolisHastings(**knobs)  # type: ignore[arg-type]


def test_the_moments_are_those_of_the_target() -> None:
    study = MetropolisHastings(
        samples=2000, chains=200, look_at=[10, 2000], show=["steps", "convergence"]
    )
    outcome = run(study)
    found, arrays = outcome.metrics, outcome.arrays
    assert_allclose(arrays["mean_1"].mean(), 1.0, atol=0.06)
    assert_allclose(arrays["covariance_11"].mean(), 3.0, atol=0.15)  # biased down by few samples
    assert_allclose(arrays["covariance_12"].mean(), 0.4, atol=0.1)
    # a Gaussian in the plane has 1 - exp(-r^2 / 2) within r standard deviations
    assert_allclose(found["share_within_half_sd_of_centre"], 1 - np.exp(-0.125), rtol=0.05)
    assert found["scale_reduction_10"] > 1.5 > 1.02 > found["scale_reduction_2000"]
    assert found["uphill_always_accepted"] is True
    kept = arrays["early_accepted"]
    assert arrays["early_rejections"][0] == 9 - kept.sum()
    moved = (np.diff(arrays["early"], axis=0) != 0).any(axis=-1)
    assert moved.tolist() == kept.tolist()
    assert_allclose(arrays["early"][1:][kept], arrays["early_proposed"][kept])
    with style("screen"):
        assert list(study.draw(outcome)) == ["steps", "convergence"]


def test_chains_that_start_inside_need_no_burn_in() -> None:
    inside = run(MetropolisHastings(samples=100, look_at=[100], chains=10, start_distance=1))
    assert inside.arrays["burn_in"].tolist() == [0] * 10
    far = run(MetropolisHastings(samples=100, look_at=[100], chains=10, start_distance=20))
    assert far.arrays["burn_in"].min() > 5
