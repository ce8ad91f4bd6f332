"""Collapse of a component against scipy's densities; remedies against their guarantees."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.clustering.mixture_singularity import MixtureSingularity


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"point": 272}, "there are 272 points"),
        ({"k": [273]}, "there are 272 points"),
        ({"weight": 1.0}, "study.weight"),
        ({"decades": 3}, "study.decades"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs, complaint):
    with pytest.raises(InputError, match=complaint):
        MixtureSingularity(**knobs)


def test_log_likelihood_against_scipy(run):
    study = MixtureSingularity(decades=6, weight=0.3, point=7)
    outcome = run(study)
    X = study.points(np.random.default_rng(0))
    whole = multivariate_normal(X.mean(0), np.cov(X.T, bias=True)).pdf(X)
    for decade in (0, 1, 2, 3):
        small = multivariate_normal(X[7], 10.0 ** (-2 * decade) * np.eye(2))
        expected = np.log(0.7 * whole + 0.3 * small.pdf(X)).sum()
        for name, value in {
            "log_likelihood": expected,
            "single_log_likelihood": small.logpdf(X).sum(),
        }.items():
            found = outcome[name].sel(decade=decade).item
            assert found == pytest.approx(value, rel=1e-9), name
    gains = np.diff(outcome["log_likelihood"].values)
    assert gains[-1] == pytest.approx(2 * np.log(10), rel=1e-9)


def test_remedies(run):
    study = MixtureSingularity(
        data=None,
        standardise=False,
        centres=[[0.0, 0.0], [4.0, 4.0]],
        n_each=12,
        k=[2, 8],
        restarts=20,
    )
    outcome = run(study)
    collapsed = outcome["collapsed"]
    assert collapsed.sel(method="ml", k=8).item > 10
    for method in ("map", "vb"):
        assert collapsed.sel(method=method).values.sum() == 0
        assert outcome["smallest_gain"].sel(method=method).values.min() >= -1e-9
