"""Principal components of hidden clusters against scikit-learn and a plain count."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.latent.principal_components import (
    ComponentChoice,
    PrincipalClusters,
    ProjectionVariance,
)


@pytest.mark.parametrize(
    ("study", "knobs", "complaint"),
    [
        (PrincipalClusters, {"large": 7}, "study.large"),
        (PrincipalClusters, {"centres": [[0.0, 0.0], [1.0]]}, "study.centres"),
        (ProjectionVariance, {"noise_dimensions": 1}, "two variables in all"),
        (ProjectionVariance, {"noise_dimensions": 0, "variances": [1.0]}, "study.variances"),
        (ComponentChoice, {"neighbours": 80}, "study.neighbours"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(study, knobs, complaint) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadInput, match=complaint):
        study(**knobs)


def test_eigenvalues_and_statements() -> None:
    study = PrincipalClusters(repetitions=20)
    outcome = study.run(generator(study.name, 0))
    Y = outcome.arrays["Y"]
    expected = PCA().fit(Y).explained_variance_ * (len(Y) - 1) / len(Y)
    np.testing.assert_allclose(outcome.series["eigenvalues"].values, expected, rtol=1e-9)
    assert outcome.metrics["large_ones_stand_out"] is True
    assert list(study.draw(outcome)) == ["projection"]
    wrong = PrincipalClusters(repetitions=20, large=3)
    assert wrong.run(generator(study.name, 0)).metrics["large_ones_stand_out"] is False


def test_variances_of_two_projections() -> None:
    study = ProjectionVariance(
        centres=[[-3.0, 0.0], [3.0, 0.0]], noise_dimensions=0, repetitions=10, n_each=200
    )
    outcome = study.run(generator(study.name, 0))
    values = outcome.arrays["eigenvalues_clusters"].mean(axis=0)
    np.testing.assert_allclose(values, [10, 1], rtol=0.1)  # 3^2 between the clusters, 1 within
    np.testing.assert_allclose(
        outcome.arrays["eigenvalues_cloud"].mean(axis=0), [2.0, 0.5], rtol=0.1
    )
    assert outcome.metrics["structure_a_clusters"] == pytest.approx(0.9, abs=0.02)
    assert list(study.draw(outcome)) == ["variance"]


def test_accuracy_by_leaving_one_out() -> None:
    study = ComponentChoice(repetitions=2)
    outcome = study.run(generator(study.name, 0))
    Y = study.objects(generator(study.name, 0))
    X = PCA().fit_transform(Y[0])[:, :2]
    theirs = cross_val_score(KNeighborsClassifier(5), X, study.labels, cv=LeaveOneOut()).mean()
    assert outcome.arrays["accuracy"][0, 1] == pytest.approx(theirs)
    assert list(study.draw(outcome)) == ["accuracy"]
