"""Collapse of a component against scipy's densities; remedies against their guarantees."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.random_streams import make_rng
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
            "log_height": small.logpdf(X[7]),
        }.items():
            found = outcome[name].sel(decade=decade).item
            assert found == pytest.approx(value, rel=1e-9), name
    gains = np.diff(outcome["log_likelihood"].values)
    assert gains[-1] == pytest.approx(2 * np.log(10), rel=1e-9)
    assert outcome["largest_bernoulli_log_density"].values.max() <= 0


def test_the_printed_height_is_right_in_one_dimension(run):
    study = MixtureSingularity(data=None, centres=[[0.0], [3.0]], standardise=False, n_each=10)
    outcome = run(study)
    heights = outcome["log_height"]
    printed = np.log(10) * heights.coord("decade") - np.log(2 * np.pi) / 2
    np.testing.assert_allclose(heights.values, printed, rtol=1e-9)
    assert np.diff(outcome["log_likelihood"].values)[-1] == pytest.approx(np.log(10), rel=1e-9)


def test_the_width_that_beats_the_regular_maximum(run):
    # Shrink that far indeed: each decade gains 2 ln 10, and it takes about 76 of them.
    outcome = run(MixtureSingularity(decades=80))
    L, best = outcome["log_likelihood"].values, outcome["regular_maximum"].item
    assert L[8] + (76 - 8) * 2 * np.log(10) == pytest.approx(best, abs=2 * np.log(10))
    assert L[75] < best < L[77]


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
    X = study.points(make_rng(0))
    floor = X.var(axis=0).min() / np.sqrt(8) / (len(X) + 4 + 3)  # S0 / (N + nu0 + D + 1)
    assert outcome["smallest_variance"].sel(method="map").values.min() >= floor
