"""The Gaussian classifier: FCML Table 5.1 by scipy, and what must be refused."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.classification.bayes_classifier import BayesClassifier
from models.datasets import load


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": "old-faithful"}, "two attributes and a class"),
        ({"at": [1.0]}, "two numbers"),
        ({"places": {"here": [1.0]}}, "two numbers"),
        ({"low": [8.0, 0.0]}, "low < high"),
        ({"covariance": "round"}, "study.covariance"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        BayesClassifier(**knobs)  # type: ignore[arg-type]


def test_table_5_1_by_scipy() -> None:
    study = BayesClassifier(step=0.5, places={"far": [50.0, 0.0]}, show=["data", "densities"])
    outcome = study.run(generator(study.name, 0))
    table = load(study.data).matrix
    for suffix, biased in (("", True), ("_unbiased", False)):
        p = np.array(
            [
                multivariate_normal(mine.mean(0), np.cov(mine.T, bias=biased)).pdf([2, 0]) / 3
                for mine in (table[table[:, 2] == c, :2] for c in (1, 2, 3))
            ]
        )
        for k in range(3):
            name = f"{k + 1}{suffix}"
            assert outcome.metrics[f"joint_{name}"] == pytest.approx(p[k], rel=1e-9)
            assert outcome.metrics[f"probability_{name}"] == pytest.approx(p[k] / p.sum(), rel=1e-9)
    assert round(outcome.metrics["likelihood_1_unbiased"], 4) == 0.0138  # FCML Table 5.1
    assert outcome.metrics["distance_to_data_far"] > 40
    assert list(study.draw(outcome)) == ["data", "densities"]


def test_naive_has_no_correlation_and_flips_the_decision() -> None:
    study = BayesClassifier(covariance="naive", step=0.5)
    outcome = study.run(generator(study.name, 0))
    assert outcome.metrics["correlation_3"] == 0
    assert outcome.metrics["predicted_class"] == 3
    assert outcome.metrics["class_that_loses_most"] == 3
    assert list(study.draw(outcome)) == ["probabilities"]
