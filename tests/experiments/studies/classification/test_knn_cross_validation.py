"""Cross-validation of nearest neighbours against a plain loop."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.classification.knn_cross_validation import KnnCrossValidation


def test_cross_validation_curve() -> None:
    study = KnnCrossValidation(
        sizes=[30, 10], ks=[1, 3, 5], folds=40, partitions=1, repetitions=2, bump_at=3
    )
    outcome = study.run(generator(study.name, 0))
    X, t = outcome.arrays["X"], outcome.arrays["t"]
    wrong = [
        KNeighborsClassifier(5).fit(np.delete(X, n, 0), np.delete(t, n)).predict(X[n][None])[0]
        != t[n]
        for n in range(40)
    ]
    assert outcome.series["error"].values[2] == pytest.approx(np.mean(wrong))
    e = outcome.arrays["curves"]
    higher = (e[:, 1] > e[:, 0]) & (e[:, 1] > e[:, 2])
    np.testing.assert_array_equal(outcome.arrays["bump_at_3"], higher)
    assert list(study.draw(outcome)) == ["error"]
    for knobs in ({"bump_at": 29}, {"folds": 71}, {"ks": [3, 1]}):
        with pytest.raises(BadInput):
            KnnCrossValidation(**knobs)  # type: ignore[arg-type]
