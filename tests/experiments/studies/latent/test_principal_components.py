"""Principal components of hidden clusters against scikit-learn and a plain count."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.studies.latent.principal_components import PrincipalComponents


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"centres": [[0.0, 0.0], [1.0]]}, "study.centres"),
        ({"cloud": [2.0, 0.5]}, "two variables in all"),
        ({"noise_dimensions": 0, "cloud": [1.0]}, "two variances"),
        ({"neighbours": 80}, "study.neighbours"),
        ({"n_each": 2, "noise_dimensions": 9}, "no fewer objects than variables"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs, complaint):
    with pytest.raises(InputError, match=complaint):
        PrincipalComponents(**knobs)


def test_eigenvalues(run):
    outcome = run(PrincipalComponents(repetitions=20))
    Y = outcome["points"].values[0]
    expected = PCA().fit(Y).explained_variance_ * (len(Y) - 1) / len(Y)
    first = outcome["eigenvalues"].sel(data="clusters", repetition=0)
    np.testing.assert_allclose(first, expected, rtol=1e-9)
    np.testing.assert_allclose(outcome["projections"].values[0].var(axis=0), expected, rtol=1e-9)


def test_a_line_that_keeps_clusters_apart(run):
    near = run(PrincipalComponents(centres=[[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]], repetitions=3))
    far = run(PrincipalComponents(centres=[[0.0, 0.0], [50.0, 0.0], [0.0, 90.0]], repetitions=3))
    assert not near["apart_on_a_line"].values.any()
    assert far["apart_on_a_line"].values.all()


def test_variances_of_two_projections(run):
    study = PrincipalComponents(
        centres=[[-3.0, 0.0], [3.0, 0.0]],
        noise_dimensions=0,
        repetitions=10,
        n_each=200,
        cloud=[2.0, 0.5],
    )
    outcome = run(study)
    values = outcome["eigenvalues"].values.mean(axis=1)
    # 3^2 between the clusters and 1 within; and the cloud's own.
    np.testing.assert_allclose(values, [[10, 1], [2.0, 0.5]], rtol=0.1)
    np.testing.assert_allclose(outcome["cloud_variance"].values.mean(axis=0), [2, 0.5], rtol=0.1)
    structure = outcome["structure"].sel(data="clusters").values.mean(axis=0)
    assert structure[0] == pytest.approx(0.9, abs=0.02)


def test_accuracy_by_leaving_one_out(run):
    study = PrincipalComponents(repetitions=2, neighbours=5)
    outcome = run(study)
    Y = study.objects(make_rng(0))
    X = PCA().fit_transform(Y[0])[:, :2]
    theirs = cross_val_score(KNeighborsClassifier(5), X, study.labels, cv=LeaveOneOut()).mean()
    assert outcome["accuracy"].sel(repetition=0, dimensions=2).item == pytest.approx(theirs)
