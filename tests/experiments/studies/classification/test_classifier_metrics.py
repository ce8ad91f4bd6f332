"""Measures of a constant answer by hand, of machines by scikit-learn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.classification.classifier_metrics import ClassifierMetrics
from bythebook.models.datasets import load


def test_a_constant_answer(run: Callable[..., Any]) -> None:
    outcome = run(ClassifierMetrics(n=10, rare_share=0.3))
    assert outcome["loss"].sel(answer="all negative").item == pytest.approx(0.3)
    assert outcome["confusion"].sel(answer="all negative").values.tolist() == [[7, 3], [0, 0]]
    assert outcome["confusion"].sel(answer="all positive").values.tolist() == [[0, 0], [7, 3]]
    assert outcome["auc"].values.tolist() == [0.5, 0.5, 1]
    with pytest.raises(InputError, match="empty"):
        ClassifierMetrics(n=2)
    with pytest.raises(InputError, match="two attributes"):
        ClassifierMetrics(data="pen-digits")


def test_areas_are_those_of_scikit_learn(run: Callable[..., Any]) -> None:
    study = ClassifierMetrics(test="fcml-disc-test", repetitions=3)
    outcome = run(study)
    train, test = load(study.data).matrix, load("fcml-disc-test").matrix
    for gamma in study.gammas:
        model = SVC(gamma=gamma, C=10.0, tol=1e-8).fit(train[:, :2], train[:, 2])
        auc = roc_auc_score(test[:, 2], model.decision_function(test[:, :2]))
        found = outcome["machine_auc"].sel(gamma=gamma).item
        assert found == pytest.approx(auc, abs=2e-4)
        rates = outcome["roc"].sel(gamma=gamma).values
        assert np.trapezoid(rates[1], rates[0]) == pytest.approx(found, rel=1e-12)
    assert outcome["repeated_auc"].values.shape == (3, 3)
    assert abs(outcome["guessing_auc"].values.mean() - 0.5) < 0.01
    assert outcome["auc"].values.tolist() == [0.5, 0.5, 1]
