"""The most probable weights by climbing the posterior itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import norm

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.regression.map_is_ridge import MapIsRidge
from models.datasets import load


def run(study: MapIsRidge) -> Outcome:
    return study.run(generator(study.name, 0))


def test_weights_are_the_maximum_of_the_posterior() -> None:
    study = MapIsRidge(data="curve-fitting", order=2, lambdas=[0.1], sigma2=0.09)
    found = run(study).metrics
    assert_allclose(found["prior_variance_lambda_0.1"], 0.9, rtol=1e-12)
    x, t = load("curve-fitting").xt

    def minus_log_posterior(w: np.ndarray) -> float:
        prior = norm(0, np.sqrt(0.9)).logpdf(w).sum()
        return -float(prior + norm(np.polyval(w[::-1], x), 0.3).logpdf(t).sum())

    best = minimize(minus_log_posterior, np.zeros(3), method="BFGS", options={"gtol": 1e-7})
    for kind in ("", "map_"):
        weights = [found[f"{kind}weight_{j}_lambda_0.1"] for j in range(3)]
        assert_allclose(weights, best.x, rtol=1e-4, atol=1e-5)


def test_fcml_exercise_3_9() -> None:
    """Computed apart: w = [10.754628, -0.033531] for lambda 0.01, x = (year - 1896) / 4."""
    study = MapIsRidge(
        data="olympics-100m-men",
        curve="unknown",
        shift=1896,
        scale=4,
        penalty="mean",
        lambdas=[0.01, 1.0],
        sigma2=0.05,
    )
    outcome = run(study)
    found = outcome.metrics
    weights = [found["weight_0_lambda_0.01"], found["weight_1_lambda_0.01"]]
    assert_allclose(weights, [10.754628, -0.033531], rtol=0, atol=1e-6)
    assert_allclose(found["prior_variance_lambda_0.01"], 0.05 / 0.27, rtol=1e-12)
    assert found["map_is_ridge"] is True
    with style("screen"):
        assert list(study.draw(outcome)) == ["weights"]


@pytest.mark.parametrize(
    "knobs", [{"lambdas": [0.0]}, {"lambdas": []}, {"sigma2": 0.0}, {"order": 0}]
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object]) -> None:
    with pytest.raises(BadInput, match=f"study.{next(iter(knobs))}"):
        MapIsRidge(**knobs)  # type: ignore[arg-type]
