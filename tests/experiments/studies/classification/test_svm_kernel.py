"""Gaussian-kernel machines against scikit-learn."""

import pytest
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.classification.svm_kernel import SvmKernel
from models.datasets import load


def test_kernel_machines_are_those_of_scikit_learn() -> None:
    study = SvmKernel(repetitions=3, bias="free", show=["data", "boundaries", "roc"])
    outcome = study.run(generator(study.name, 0))
    train, test = load(study.data).matrix, load(study.test).matrix
    for gamma in study.gammas:
        model = SVC(gamma=gamma, C=10.0, tol=1e-8).fit(train[:, :2], train[:, 2])
        score = model.decision_function(test[:, :2])
        g = f"gamma_{gamma:g}"
        assert outcome.metrics[f"support_vectors_{g}"] == len(model.support_)
        assert outcome.metrics[f"auc_{g}"] == pytest.approx(
            roc_auc_score(test[:, 2], score), abs=2e-4
        )
        assert outcome.metrics[f"share_called_square_free_{g}"] == pytest.approx(
            (score > 0).mean(), abs=2e-3
        )
        assert outcome.arrays[f"auc_{g}"].shape == (3,)
    assert list(study.draw(outcome)) == ["data", "boundaries", "roc"]
    with pytest.raises(BadInput, match="two attributes"):
        SvmKernel(data="old-faithful")
