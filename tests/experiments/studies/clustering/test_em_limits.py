"""EM with small fixed variances against a plain loop and against K-means."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from experiments.contract.errors import BadInput
from experiments.studies.clustering.em_limits import EmLimits

START = [[-1.5, 1.0], [1.5, -1.0]]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"start": [[0.0, 0.0]]}, "study.start has 1 centres"),
        ({"start": [[0.0], [1.0]]}, "needs 2 numbers"),
        ({"weights": [[0.5, 0.6]]}, "sum to one"),
        ({"weights": [[1.0, 0.0]]}, "numbers > 0"),
        ({"variances": [0.0]}, "study.variances"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs, complaint):
    with pytest.raises(BadInput, match=complaint):
        EmLimits(**knobs)


def test_differences_against_a_plain_loop(run):
    study = EmLimits(start=START, variances=[0.5, 0.05], weights=[[0.7, 0.3]], fixed_weights=True)
    outcome = run(study)
    X = study.points(np.random.default_rng(0))
    centres = KMeans(2, init=np.array(START), n_init=1, tol=0).fit(X).cluster_centers_
    r = (((X[:, None] - centres) ** 2).sum(2).argmin(1)[:, None] == np.arange(2)).astype(float)
    for epsilon in study.variances:
        mu = np.array(START)
        for _ in range(200):
            weight = np.array([0.7, 0.3]) * np.exp(-((X[:, None] - mu) ** 2).sum(2) / (2 * epsilon))
            gamma = weight / weight.sum(1, keepdims=True)
            mu = gamma.T @ X / gamma.sum(0)[:, None]
        expected = {
            "difference": np.abs(mu - centres).max(),
            "label_doubt": 1 - gamma.max(1).min(),
            "responsibilities_off_labels": np.abs(gamma - r).max(),
            "weights_off_fractions": np.abs([0.7, 0.3] - r.mean(0)).max(),  # they are held
        }
        for name, value in expected.items():
            found = outcome[name].at(epsilon=epsilon, weighting=0).item
            assert found == pytest.approx(value, rel=1e-4), name


def test_the_limit_and_the_misprints(run):
    study = EmLimits(start=START, variances=[0.1, 1e-5], weights=[[0.5, 0.5], [0.99, 0.01]])
    outcome = run(study)
    for name in ("difference", "responsibilities_off_labels", "weights_off_fractions"):
        assert outcome[name].at(epsilon=1e-5).values.max() < 1e-9, name
        assert outcome[name].at(epsilon=0.1).values.max() > 1e-4, name
    assert outcome["path_difference"].values.max() < 1e-9
    J = outcome["distortion"].values
    X = study.points(np.random.default_rng(0))
    assert J[-1] == pytest.approx(KMeans(2, init=np.array(START), n_init=1, tol=0).fit(X).inertia_)
    assert (np.diff(J) <= 1e-9).all()
    beyond = outcome["expected_complete"].values[-1] - outcome["constant_terms"].values[-1]
    assert beyond == pytest.approx(-J[-1] / 2 / 1e-5, rel=1e-6)
    printed, corrected = outcome["density_integral"].values
    assert corrected == pytest.approx(1)
    assert printed == pytest.approx(np.sqrt(np.pi))


def test_in_one_dimension_the_printed_density_is_right(run):
    outcome = run(EmLimits(data=None, standardise=False, centres=[[0.0], [5.0]]))
    assert outcome["density_integral"].values == pytest.approx([1, 1])
