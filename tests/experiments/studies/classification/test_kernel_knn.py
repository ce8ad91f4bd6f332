"""Nearest neighbours with kernels."""

import pytest

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.classification.kernel_knn import KernelKnn


def test_kernels_decide_as_they_should() -> None:
    study = KernelKnn(step=0.5)
    outcome = study.run(generator(study.name, 0))
    assert outcome.metrics["linear_agrees_with_euclidean"] is True
    assert outcome.metrics["linear_distance_is_euclidean"] is True
    assert outcome.metrics["gaussian_agrees_with_euclidean"] is True
    assert list(study.draw(outcome)) == ["boundary"]
    with pytest.raises(BadInput, match="42 points"):
        KernelKnn(k=42)
