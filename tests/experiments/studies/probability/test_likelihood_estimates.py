"""The study of closed-form estimates: a wrong estimate or information must be seen."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies import likelihood_estimates
from experiments.studies.probability.likelihood_estimates import LikelihoodEstimates
from models.datasets import load
from models.probability.gaussian import Gaussian
from models.types import Floats


def run(study: LikelihoodEstimates) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"q": [0.0]}, "study.q"),
        ({"variances": [1.0]}, "allowed: 3, as in study.mean"),
        ({"mean": [0.0] * 12, "variances": [1.0] * 12, "n": 12}, "> 12, the dimensions"),
        ({"correlation": 1.0}, "study.correlation"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        LikelihoodEstimates(**knobs)  # type: ignore[arg-type]


def test_everything_holds() -> None:
    study = LikelihoodEstimates()
    outcome = run(study)
    assert all(value for value in outcome.metrics.values() if isinstance(value, bool))
    x, t = load("olympics-100m-men").xt
    errors = t - np.polyval(np.polyfit(x, t, 1), x)
    assert_allclose(outcome.metrics["noise_variance_by_products"], np.mean(errors**2), rtol=1e-8)
    assert len(study.draw(outcome)["likelihood"].axes) == 2


def test_a_divisor_of_n_minus_one_is_not_the_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    def unbiased(X: Floats) -> Gaussian:
        return Gaussian(X.mean(0), np.atleast_2d(np.cov(X.T)))

    monkeypatch.setattr(likelihood_estimates, "estimate", unbiased)
    found = run(LikelihoodEstimates(trials=5000)).metrics
    assert found["gaussian_estimate_is_maximum"] is False
    assert found["bernoulli_estimate_is_maximum"] is True


def test_wrong_information_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(likelihood_estimates, "bernoulli_information", lambda q: 1.1 / q / (1 - q))
    monkeypatch.setattr(likelihood_estimates, "mean_information", lambda S: S)
    found = run(LikelihoodEstimates()).metrics
    assert found["bernoulli_information_is_expected_curvature"] is False
    assert found["bernoulli_information_is_mean_squared_score"] is False
    assert found["mean_information_is_inverse_covariance"] is False
