"""Measures of a constant answer by hand."""

import pytest

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.classification.classifier_metrics import ClassifierMetrics


def test_a_constant_answer() -> None:
    study = ClassifierMetrics(n=10, rare_share=0.3)
    outcome = study.run(generator(study.name, 0))
    assert outcome.metrics["loss_all_negative"] == pytest.approx(0.3)
    assert (outcome.metrics["tn"], outcome.metrics["fn"]) == (7, 3)
    assert outcome.metrics["auc_perfect"] == 1
    assert list(study.draw(outcome)) == ["measures"]
    with pytest.raises(BadInput, match="empty"):
        ClassifierMetrics(n=2)
