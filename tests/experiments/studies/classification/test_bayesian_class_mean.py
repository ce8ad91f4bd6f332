"""A class mean averaged out, against the density of a sum."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.classification.bayesian_class_mean import BayesianClassMean
from models.datasets import load


def test_class_mean_against_the_density_of_a_sum() -> None:
    study = BayesianClassMean(sizes=[2, 5], draws=2000)
    outcome = study.run(generator(study.name, 0))
    X = load(study.data).matrix[:5, :2]  # the first class stands first
    v = 1 / (5 + 1 / 10)
    exact = multivariate_normal(v * X.sum(0), (1 + v) * np.eye(2)).pdf([2, 0])
    assert outcome.metrics["expected_likelihood_5"] == pytest.approx(exact, rel=1e-9)
    assert outcome.metrics["monte_carlo_agrees"] is True
    assert outcome.metrics["posterior_agrees_with_grid"] is True
    assert list(study.draw(outcome)) == ["likelihood"]
    for knobs in ({"sizes": [31]}, {"sizes": [3, 1]}, {"at": [1.0]}):
        with pytest.raises(BadInput):
            BayesianClassMean(**knobs)  # type: ignore[arg-type]
