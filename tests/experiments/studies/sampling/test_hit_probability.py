"""Shares of hits: knob rules, and errors as the binomial law has them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.sampling.hit_probability import HitProbability


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"look_at": [20_000]}, "study.look_at"),
        ({"throws": 1_000_000, "look_at": [10]}, "allowed: <= 10000000"),
        ({"skills": [0.0]}, "study.skills"),
        ({"game": "bull"}, "study.game"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        HitProbability(**knobs)  # type: ignore[arg-type]


def test_pi() -> None:
    study = HitProbability(
        game="quarter-circle", times=4, throws=1000, sequences=1000, look_at=[1000]
    )
    outcome = study.run(generator(study.name, 0))
    found = outcome.metrics
    assert_allclose(found["exact"], np.pi, rtol=1e-12)
    assert_allclose(found["mean_estimate_1000"], np.pi, atol=0.01)
    # four times the share of n has the variance 16 p (1 - p) / n = pi (4 - pi) / n
    assert_allclose(found["rms_error_1000"], np.sqrt(np.pi * (4 - np.pi) / 1000), rtol=0.08)
    assert found["errors_as_theory"] is True
    assert "skill_helps" not in found
    with style("screen"):
        assert list(study.draw(outcome)) == ["convergence"]


def test_darts() -> None:
    study = HitProbability(skills=[50.0, 15.0], throws=2000, look_at=[2000])
    outcome = study.run(generator(study.name, 0))
    found = outcome.metrics
    assert found["skill_helps"] is True
    assert found["exact_sd_15"] > found["exact_sd_50"]
    estimates = outcome.arrays["estimates_sd_15_2000"]
    assert_allclose(estimates.mean(), found["exact_sd_15"], atol=0.003)
    assert_allclose(found["rate_of_decay_sd_15"], -0.5, atol=0.1)
    with style("screen"):
        assert list(study.draw(outcome)) == ["convergence"]
