"""K-means and EM from many starts: closed forms, scikit-learn, and the counting of optima."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.studies.clustering._points import standardised
from bythebook.experiments.studies.clustering.restarts import STARTS, Restarts
from bythebook.models.datasets import load
from bythebook.models.types import Floats

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"k": [273]}, "there are 272 points"),
        ({"k": [2, 2]}, "repeats an entry"),
        ({"k": [0]}, "study.k"),
        ({"data": None, "centres": [[0.0, 0.0]], "n_each": 5, "k": [6]}, "there are 5 points"),
        ({"model": "hope"}, "study.model"),
        ({"starts": ["luck"]}, "study.starts"),
        ({"starts": ["identical"]}, "identical; allowed with study.model=kmeans"),
        ({"model": "mixture", "starts": ["corner"]}, "corner; allowed with study.model=mixture"),
        ({"start_box": [1.0]}, "low < high"),
        ({"start_box": [1.0, -1.0]}, "low < high"),
        ({"restarts": 0}, "study.restarts"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Restarts(**knobs)


def test_the_lowest_distortion_is_that_of_scikit_learn(run: Run) -> None:
    study = Restarts(k=[1, 2, 3], starts=list(STARTS["kmeans"]), restarts=60)
    outcome = run(study)
    X = standardised(load("old-faithful").matrix)
    lowest = outcome["distortion"].values.min(axis=(0, 2))
    theirs = [KMeans(k, n_init=10, random_state=0, tol=0).fit(X).inertia_ for k in study.k]
    assert_allclose(lowest, theirs, rtol=1e-6)
    assert_allclose(outcome["distortion"].sel(k=1).values, 2 * 272, rtol=1e-12)
    assert outcome["converged"].values.all()
    assert outcome["smallest_gain"].values.min() >= -1e-9
    corners = outcome["distortion"].sel(start="corner", k=2).values
    assert np.ptp(corners) > 1  # more than one minimum


def test_redrawing_leaves_no_cluster_empty_for_long(run: Run) -> None:
    # Two groups far apart and three centres in one small corner of a huge box.
    knobs: dict[str, Any] = {
        "data": None,
        "standardise": False,
        "centres": [[0.0, 0.0], [9.0, 9.0]],
    }
    knobs |= {"k": [3], "starts": ["box"], "restarts": 20}
    kept = run(Restarts(**knobs, start_box=[50.0, 60.0]))["distortion"].values.min()
    study = Restarts(**knobs, start_box=[-5.0, 60.0], redraw_empty=True)
    outcome = run(study)
    assert kept > 2 * outcome["distortion"].values.min()


def test_the_largest_likelihood_against_a_closed_form_and_scikit_learn(run: Run) -> None:
    study = Restarts(model="mixture", k=[1, 2], starts=["points", "kmeans"], restarts=15)
    outcome = run(study)
    X = standardised(load("old-faithful").matrix)
    largest = outcome["log_likelihood"].values.max(axis=(0, 2))
    two = GaussianMixture(2, n_init=5, reg_covar=0, tol=1e-10, max_iter=500, random_state=0).fit(X)
    assert_allclose(largest, [of_one_gaussian(X), two.score(X) * len(X)], atol=1e-3)
    cost = outcome["multiplications"]  # of one cluster: a cycle of K-means divides its sums
    assert cost.sel(algorithm="kmeans").item == 272 * 2 + 2
    assert cost.sel(algorithm="em").item == 272 * (4 + 2 + 1 + 1 + 1 + 2 + 2 + 4) + 2 + 4
    iterations = outcome["iterations"].sel(k=2).values.mean(axis=1)
    assert iterations[1] < iterations[0]


def test_every_kind_of_start_runs_and_equal_components_stay_at_one_gaussian(run: Run) -> None:
    centres = [[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]]
    study = Restarts(
        model="mixture",
        data=None,
        centres=centres,
        standardise=False,
        k=[3],
        starts=list(STARTS["mixture"]),
        restarts=8,
    )
    outcome = run(study)
    identical = outcome["log_likelihood"].sel(start="identical", k=3).values
    X = study.points(make_rng(0))
    assert_allclose(identical, of_one_gaussian(X), rtol=1e-9)
    assert identical.max() < outcome["log_likelihood"].values.max() - 10


def test_all_starts_may_collapse(run: Run) -> None:
    study = Restarts(model="mixture", k=[2, 3], restarts=4, min_variance=10.0)
    outcome = run(study)
    assert np.isneginf(outcome["log_likelihood"].values).all()
    assert (outcome["optima"].values == 0).all()


def of_one_gaussian(X: Floats) -> float:
    return float(multivariate_normal(X.mean(0), np.cov(X.T, bias=True)).logpdf(X).sum())
