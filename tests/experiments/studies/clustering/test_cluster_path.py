"""K-means step by step against a plain loop, and EM against scikit-learn."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Theirs

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.clustering.cluster_path import ClusterPath
from bythebook.models.types import Floats

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"k": 3}, "study.start has 2 entries"),
        ({"start": [[0.0], [1.0]]}, "needs 2 numbers"),
        ({"data": None, "centres": [[0.0], [1.0]], "start": []}, "have 1 variables"),
        ({"start_box": [1.0, 0.0]}, "study.start_box"),
        ({"jitter": -0.1}, "study.jitter"),
        ({"snapshots": [-1]}, "study.snapshots"),
        ({"variance": 0.0}, "study.variance"),
        ({"k": 9, "start": []}, "study.k"),
        ({"model": "hope"}, "study.model"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        ClusterPath(**knobs)


def plain(X: Floats, centres: Floats, cycles: int) -> list[float]:
    """J after E1, M1, E2, M2, ... by loops over points and centres."""
    centres, J = centres.copy(), []
    for _ in range(cycles):
        labels = [int(np.argmin([np.sum((x - c) ** 2) for c in centres])) for x in X]
        J.append(sum(np.sum((x - centres[k]) ** 2) for x, k in zip(X, labels, strict=True)))
        for k in range(len(centres)):
            centres[k] = np.mean([x for x, j in zip(X, labels, strict=True) if j == k], axis=0)
        J.append(sum(np.sum((x - centres[k]) ** 2) for x, k in zip(X, labels, strict=True)))
    return J


def test_distortion_against_a_plain_loop(run: Run) -> None:
    study = ClusterPath(repetitions=50)
    outcome = run(study)
    X, centres = outcome["points"].values, outcome["means"].values
    assert outcome["distortion"].coord("half_step").tolist() == (
        ["E1", "M1", "E2", "M2", "E3", "M3", "E4", "M4", "E5", "M5"]
    )
    assert_allclose(outcome["distortion"].values, plain(X, centres[0], 5), rtol=1e-10)
    assert_array_equal(centres[0], study.start)
    labels = outcome["labels"].values
    for step, members in enumerate(labels[:-1], start=1):  # the means of what the E step assigned
        means = [X[members == k].mean(axis=0) for k in range(2)]
        assert_allclose(centres[step], means, rtol=1e-10)
    assert_array_equal(labels[-1], labels[-2])
    for x, ratio, label in zip(
        X, *(outcome[n].values for n in ("ambiguity", "plotted_labels")), strict=True
    ):
        near, far = sorted(float(np.sum((x - c) ** 2)) for c in centres[-1])
        assert ratio == pytest.approx(far / near)
        spread = X.max(axis=0) - X.min(axis=0)
        assert label == np.argmin([np.sum(((x - c) / spread) ** 2) for c in centres[-1]])
    assert sorted(np.bincount(labels[-1])) == [98, 174]
    assert outcome["cycles"].values.shape == (50,)


def test_without_jitter_every_repetition_is_the_start(run: Run) -> None:
    study = ClusterPath(jitter=0.0, repetitions=3)
    outcome = run(study)
    assert outcome["cycles"].values.tolist() == [5, 5, 5]
    assert_allclose(outcome["final_distortion"].values, outcome["distortion"].values[-1])


def test_random_starts_in_a_box(run: Run) -> None:
    study = ClusterPath(data="fcml-kmeans", standardise=False, start=[], k=3, repetitions=60)
    outcome = run(study)
    X, centres = outcome["points"].values, outcome["means"].values
    assert (np.abs(centres[0]) <= 5).all()
    expected = plain(X, centres[0], len(centres) - 1)
    assert_allclose(outcome["distortion"].values, expected, rtol=1e-10)
    best = outcome["final_distortion"].values.min()
    assert outcome["distortion"].values[-1] == pytest.approx(best)  # the best is shown


def test_snapshots_are_those_of_scikit_learn(run: Run) -> None:
    study = ClusterPath(model="mixture", snapshots=[1, 2, 5, 18], repetitions=10)
    outcome = run(study)
    X = outcome["points"].values
    for steps in study.snapshots:
        theirs = Theirs(
            2,
            weights_init=[0.5, 0.5],
            means_init=np.array(study.start),
            precisions_init=np.stack([np.eye(2)] * 2),
            max_iter=steps,
            tol=0,
            reg_covar=0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            theirs.fit(X)
        there = {"iteration": steps}
        assert_allclose(outcome["weights"].sel(**there), theirs.weights_, atol=1e-4)
        assert_allclose(outcome["means"].sel(**there), theirs.means_, atol=1e-4)
        assert_allclose(outcome["covariances"].sel(**there), theirs.covariances_, atol=1e-4)
        likelihood = outcome["log_likelihood"].sel(**there).item
        assert likelihood == pytest.approx(theirs.score(X) * len(X), abs=1e-4)
        shares = outcome["responsibilities"].sel(snapshot=steps)
        assert_allclose(shares, theirs.predict_proba(X), atol=1e-4)
    gap = outcome["log_likelihood"].values - outcome["bound"].values
    assert gap[0] == np.inf
    assert (gap[1:-1] > 0).all()
    remaining = outcome["remaining_gain"]  # the first start is the one that is shown
    climb = outcome["log_likelihood"].values
    for steps in (0, *study.snapshots):
        left = climb[-1] - climb[min(steps, len(climb) - 1)]
        assert remaining.sel(repetition=0, snapshot=steps).item == pytest.approx(left, abs=1e-9)


def test_a_random_start_shows_one_that_finds_the_best(run: Run) -> None:
    centres = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]
    study = ClusterPath(
        model="mixture",
        data=None,
        centres=centres,
        standardise=False,
        k=3,
        start=[],
        repetitions=30,
        snapshots=[1, 400],
    )
    outcome = run(study)
    ends = outcome["means"].values[-1]
    for centre in centres:
        assert np.abs(ends - centre).sum(axis=1).min() < 0.4
    assert outcome["kmeans_agreement"].item > 0.98
    assert outcome["iterations_to_settle"].values.min() >= 0
    assert len(outcome["iterations_to_settle"]) <= 30
    gains = np.diff(outcome["log_likelihood"].values)  # of the first start that finds the best
    assert outcome["largest_gain_at"].values[0] == gains.argmax() + 1


def test_a_collapse_at_once_is_reported(run: Run) -> None:
    knobs: dict[str, Any] = {"model": "mixture", "start": [[-1.5, 1.0], [40.0, 40.0]]}
    study = ClusterPath(**knobs, variance=1e-4, jitter=0.0, repetitions=2)
    with pytest.raises(InputError, match="collapses"):
        run(study)
