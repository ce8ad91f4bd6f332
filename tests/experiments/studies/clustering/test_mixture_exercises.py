"""Means with a prior, and mixtures of counts."""

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.clustering.mixture_exercises import MeanPriors, PoissonClusters


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"weights": [0.5, 0.4]}, "sum 1"),
        ({"rates": [1.0]}, "study.rates"),
        ({"k": [1, 3]}, "lacks the 2 components"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        PoissonClusters(**knobs)  # type: ignore[arg-type]


def test_counts() -> None:
    study = PoissonClusters(n=3000)
    outcome = study.run(generator(study.name, 0))
    assert outcome.metrics["rate_1"] == pytest.approx(2, abs=0.2)
    assert outcome.metrics["rate_2"] == pytest.approx(10, abs=0.3)
    assert outcome.metrics["weight_1"] == pytest.approx(0.4, abs=0.04)
    x = outcome.arrays["x"]
    mean = x.mean()
    one = float((x * np.log(mean) - mean).sum() - sum(np.log(np.arange(1, c + 1)).sum() for c in x))
    assert outcome.metrics["log_likelihood_k1"] == pytest.approx(one, rel=1e-9)
    assert outcome.arrays["parts"].sum() == pytest.approx(1, abs=1e-3)
    assert list(study.draw(outcome)) == ["counts"]


def test_mean_priors() -> None:
    with pytest.raises(BadInput, match="rising"):
        MeanPriors(variances=[1.0, 0.1])
    study = MeanPriors(data="fcml-kmeans", standardise=False, centre=1.0, restarts=5)
    outcome = study.run(generator(study.name, 0))
    np.testing.assert_allclose(outcome.arrays["means"][0], 1.0, atol=1e-3)
    np.testing.assert_allclose(outcome.arrays["means"][-1], outcome.arrays["ml"], atol=0.01)
    assert outcome.metrics["loose_prior_keeps_ml"] is True
    assert list(study.draw(outcome)) == ["means"]
