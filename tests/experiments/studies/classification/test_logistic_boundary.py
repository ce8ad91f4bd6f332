"""Curved boundaries of logistic regression against scikit-learn."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.classification.logistic_boundary import (
    LogisticBoundary,
    features,
    straight,
)


def test_logistic_weights_are_those_of_scikit_learn() -> None:
    study = LogisticBoundary(repetitions=2)
    outcome = study.run(generator(study.name, 0))
    a = outcome.arrays
    design = features(a["X"], quadratic=True)
    model = LogisticRegression(C=10.0, fit_intercept=False, tol=1e-10, max_iter=5000)
    model.fit(design, a["t"])
    np.testing.assert_allclose(a["w_quadratic"], model.coef_[0], rtol=1e-3, atol=1e-4)
    assert outcome.metrics["linear_boundary_is_straight"] is True
    assert not straight(a["probability_quadratic"])
    assert list(study.draw(outcome)) == ["probability"]
    with pytest.raises(BadInput, match="each cloud"):
        LogisticBoundary(sizes=[5])
