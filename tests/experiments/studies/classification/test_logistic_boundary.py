"""Curved boundaries of logistic regression against scikit-learn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from experiments.contract.errors import BadInput
from experiments.studies.classification.logistic_boundary import LogisticBoundary, design


def test_logistic_weights_are_those_of_scikit_learn(run: Callable[..., Any]) -> None:
    outcome = run(LogisticBoundary(repetitions=2))
    X, t = outcome["inputs"].values, outcome["label"].values
    for features, many in (("linear", 3), ("quadratic", 5)):
        Phi = design(X)[:, :many]
        model = LogisticRegression(C=10.0, fit_intercept=False, tol=1e-10, max_iter=5000)
        model.fit(Phi, t)
        w = outcome["weight"].at(features=features, repetition=0).values
        assert_allclose(w[:many], model.coef_[0], rtol=1e-3, atol=1e-4)
        assert not w[many:].any()
        accuracy = outcome["training_accuracy"].at(features=features, repetition=0).item
        assert accuracy == pytest.approx(model.score(Phi, t))
        p = outcome["probability_map"].at(features=features)
        corner = design(np.array([[p.along("x1")[0], p.along("x2")[-1]]]))[:, :many]
        assert_allclose(p.values[-1, 0], 1 / (1 + np.exp(-corner @ w[:many]))[0], rtol=1e-9)


def test_clouds_need_an_entry_each() -> None:
    with pytest.raises(BadInput, match="each cloud"):
        LogisticBoundary(sizes=[5])
