"""The Gaussian classifier: FCML Table 5.1 by scipy, and what must be refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.classification.bayes_classifier import BayesClassifier
from bythebook.models.datasets import load


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": "pen-digits"}, "two attributes and a class"),
        ({"places": {"here": [1.0]}}, "two numbers each"),
        ({"low": [8.0, 0.0]}, "low < high"),
        ({"covariance": "round"}, "study.covariance"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        BayesClassifier(**knobs)  # type: ignore[arg-type]


def test_table_5_1_by_scipy(run: Callable[..., Any]) -> None:
    study = BayesClassifier(step=0.5, places={"new": [2.0, 0.0], "far": [50.0, 0.0]})
    outcome = run(study)
    table = load(study.data).matrix
    for divisor, biased in (("N", True), ("N-1", False)):
        p = np.array(
            [
                multivariate_normal(mine.mean(0), np.cov(mine.T, bias=biased)).pdf([2, 0])
                for mine in (table[table[:, 2] == c, :2] for c in (1, 2, 3))
            ]
        )
        found = outcome["likelihood"].sel(divisor=divisor, place="new")
        assert_allclose(found, p, rtol=1e-9)
        found = outcome["probability"].sel(divisor=divisor, place="new")
        assert_allclose(found, p / p.sum(), rtol=1e-9)
    density = outcome["likelihood"].sel(divisor="N-1", place="new").values
    assert round(density[0], 4) == 0.0138  # FCML Table 5.1
    assert_allclose(outcome["prior"], 1 / 3)


def test_own_densities_and_probabilities_by_loops(run: Callable[..., Any]) -> None:
    study = BayesClassifier(covariance="naive", step=0.5)
    outcome = run(study)
    table = load(study.data).matrix
    mine = table[table[:, 2] == 3, :2]
    law = multivariate_normal(mine.mean(0), np.diag(mine.var(0)))
    own = outcome["own_log_density"]
    assert_allclose(own.sel(covariance="naive").values[2], law.logpdf(mine).mean())
    law = multivariate_normal(mine.mean(0), np.cov(mine.T, bias=True))
    assert_allclose(own.sel(covariance="full").values[2], law.logpdf(mine).mean())
    assert outcome["correlation"].values[2] == 0
    assert outcome["probability"].sel(divisor="N", place="new").values.argmax() == 2
    assert outcome["median_own_probability"].values.min() > 0.5
    assert outcome["training_accuracy"].values.min() > 0.8
