"""Machines with Gaussian kernels and their ROC curves, against scikit-learn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.studies.classification.kernel_machines import KernelMachines
from bythebook.models.datasets import load
from bythebook.models.standins import unit_disc


def test_machines_are_those_of_scikit_learn(run: Callable[..., Any]) -> None:
    study = KernelMachines(gammas=[0.01, 1.0, 50.0], repetitions=3, step=0.5)
    outcome = run(study)
    train, test = load(study.data).matrix, load(study.test).matrix
    rng = make_rng(0)
    rng.random((3, len(test)))  # the guesses
    new = [unit_disc(rng, len(test)) for _ in range(3)]
    for gamma in study.gammas:
        model = SVC(gamma=gamma, C=10.0, tol=1e-8).fit(train[:, :2], train[:, 2])
        score = model.decision_function(test[:, :2])
        assert outcome["support"].sel(gamma=gamma).values.sum() == len(model.support_)
        b = outcome["bias"].sel(gamma=gamma, rule="free").item
        called = (outcome["score"].sel(gamma=gamma).values + b > 0).mean()
        assert called == pytest.approx((score > 0).mean(), abs=2e-3)
        area = outcome["machine_auc"].sel(gamma=gamma).item
        assert area == pytest.approx(roc_auc_score(test[:, 2], score), abs=2e-4)
        rates = outcome["roc"].sel(gamma=gamma).values
        assert np.trapezoid(rates[1], rates[0]) == pytest.approx(area, rel=1e-12)
        areas = [roc_auc_score(each[:, 2], model.decision_function(each[:, :2])) for each in new]
        assert_allclose(outcome["repeated_auc"].sel(gamma=gamma), areas, atol=2e-4)
    assert outcome["separable"].values.tolist() == [False, True]
    assert abs(outcome["guessing_auc"].values.mean() - 0.5) < 0.05


def test_the_boundary_of_the_map_is_counted_by_pairs(run: Callable[..., Any]) -> None:
    outcome = run(KernelMachines(step=0.5))
    region = outcome["region"].sel(gamma=1.0).values
    rows, columns = region.shape
    pairs = [
        (region[i, j], region[i + di, j + dj])
        for i in range(rows)
        for j in range(columns)
        for di, dj in ((0, 1), (1, 0))
        if i + di < rows and j + dj < columns
    ]
    assert outcome["boundary_length"].sel(gamma=1.0).item == sum(a != b for a, b in pairs)
    assert 0 < region.sum() < region.size


def test_data_without_two_attributes_are_refused() -> None:
    with pytest.raises(InputError, match="two attributes"):
        KernelMachines(test="pen-digits")
