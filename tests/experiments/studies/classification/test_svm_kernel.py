"""Gaussian-kernel machines against scikit-learn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from experiments.contract.errors import BadInput
from experiments.studies.classification.svm_kernel import SvmKernel
from models.datasets import load


def test_kernel_machines_are_those_of_scikit_learn(run: Callable[..., Any]) -> None:
    study = SvmKernel(repetitions=3)
    outcome = run(study)
    train, test = load(study.data).matrix, load(study.test).matrix
    for gamma in study.gammas:
        model = SVC(gamma=gamma, C=10.0, tol=1e-8).fit(train[:, :2], train[:, 2])
        score = model.decision_function(test[:, :2])
        assert outcome["support"].at(gamma=gamma).values.sum() == len(model.support_)
        auc = roc_auc_score(test[:, 2], score)
        assert outcome["auc"].at(gamma=gamma).item == pytest.approx(auc, abs=2e-4)
        b = outcome["bias"].at(gamma=gamma, rule="free").item
        called = (outcome["score"].at(gamma=gamma).values + b > 0).mean()
        assert called == pytest.approx((score > 0).mean(), abs=2e-3)
        rates = outcome["roc"].at(gamma=gamma).values
        area = np.trapezoid(rates[1], rates[0])
        assert area == pytest.approx(outcome["auc"].at(gamma=gamma).item, rel=1e-12)
    assert outcome["repeated_auc"].values.shape == (3, 3)
    assert outcome["separable"].values.tolist() == [False, True]


def test_without_repetitions_there_are_none(run: Callable[..., Any]) -> None:
    assert "repeated_auc" not in run(SvmKernel(gammas=[1.0], repetitions=0))
    with pytest.raises(BadInput, match="two attributes"):
        SvmKernel(data="old-faithful")
