"""EM from one start against scikit-learn."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Theirs

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.drawing.registry import figures
from experiments.studies.clustering.mixture_path import MixturePath

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"k": 3}, "study.start has 2 means"),
        ({"start": [[0.0], [1.0]]}, "needs 2 numbers"),
        ({"data": None, "centres": [[0.0], [1.0]], "start": []}, "have 1 variables"),
        ({"snapshots": [0]}, "study.snapshots"),
        ({"variance": 0.0}, "study.variance"),
        ({"k": 9, "start": []}, "study.k"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        MixturePath(**knobs)  # type: ignore[arg-type]


def test_snapshots_are_those_of_scikit_learn(run: Run) -> None:
    study = MixturePath(snapshots=[1, 2, 5, 18], repetitions=10)
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
        assert_allclose(outcome["weights"].at(**there), theirs.weights_, atol=1e-4)
        assert_allclose(outcome["means"].at(**there), theirs.means_, atol=1e-4)
        assert_allclose(outcome["covariances"].at(**there), theirs.covariances_, atol=1e-4)
        likelihood = outcome["log_likelihood"].at(**there).item
        assert likelihood == pytest.approx(theirs.score(X) * len(X), abs=1e-4)
        shares = outcome["responsibilities"].at(snapshot=steps)
        assert_allclose(shares, theirs.predict_proba(X), atol=1e-4)
    assert_allclose(outcome["bound_after_e"], outcome["log_likelihood"], rtol=1e-12)
    gap = outcome["log_likelihood"].values - outcome["bound_after_m"].values
    assert gap[0] == np.inf
    assert (gap[1:-1] > 0).all()
    numerical, printed, corrected = outcome["mean_derivative"].values
    assert_allclose(corrected, numerical, rtol=1e-4, atol=1e-3)
    assert np.abs(printed - numerical).max() > 1
    assert outcome["largest_derivative_at_end"].item < 0.03
    assert list(figures(study, outcome)) == ["path", "objective"]


def test_the_first_m_step_takes_the_moments_of_the_ink(run: Run) -> None:
    outcome = run(MixturePath(repetitions=2))
    X, ink = outcome["points"].values, outcome["responsibilities"].at(snapshot=0).values
    for k, weights in enumerate(ink.T):
        mean = sum(w * x for w, x in zip(weights, X, strict=True)) / weights.sum()
        scatter = sum(w * np.outer(x - mean, x - mean) for w, x in zip(weights, X, strict=True))
        assert_allclose(outcome["ink_mean"].values[k], mean, rtol=1e-9)
        assert_allclose(outcome["ink_covariance"].values[k], scatter / weights.sum(), rtol=1e-9)


def test_a_random_start_shows_one_that_finds_the_best(run: Run) -> None:
    centres = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]
    study = MixturePath(
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


def test_a_collapse_at_once_is_reported(run: Run) -> None:
    study = MixturePath(start=[[-1.5, 1.0], [40.0, 40.0]], variance=1e-4, jitter=0.0, repetitions=2)
    with pytest.raises(BadInput, match="collapses"):
        run(study)
