"""Measures of a constant answer by hand."""

from collections.abc import Callable
from typing import Any

import pytest

from experiments.contract.errors import BadInput
from experiments.studies.classification.classifier_metrics import ClassifierMetrics


def test_a_constant_answer(run: Callable[..., Any]) -> None:
    outcome = run(ClassifierMetrics(n=10, rare_share=0.3))
    assert outcome["loss"].at(answer="all negative").item == pytest.approx(0.3)
    assert outcome["confusion"].at(answer="all negative").values.tolist() == [[7, 3], [0, 0]]
    assert outcome["confusion"].at(answer="all positive").values.tolist() == [[0, 0], [7, 3]]
    assert outcome["auc"].values.tolist() == [0.5, 0.5, 1]
    with pytest.raises(BadInput, match="empty"):
        ClassifierMetrics(n=2)
