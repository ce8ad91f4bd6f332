"""EM from one start against scikit-learn, and the statements against things that are false."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Theirs

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.clustering.mixture_path import (
    MixturePath,
    agreement,
    gradient_statements,
    never_falls,
)
from models.clustering.gaussian_mixture_starts import start_at


def run(study: MixturePath) -> Outcome:
    return study.run(generator(study.name, 0))


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


def test_snapshots_are_those_of_scikit_learn() -> None:
    study = MixturePath(snapshots=[1, 2, 5, 20], repetitions=10)
    outcome = run(study)
    X, means = outcome.arrays["X"], np.array(study.start)
    for i, steps in enumerate([1, 2, 5, 20], start=1):
        theirs = Theirs(
            2,
            weights_init=[0.5, 0.5],
            means_init=means,
            precisions_init=np.stack([np.eye(2)] * 2),
            max_iter=steps,
            tol=0,
            reg_covar=0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            theirs.fit(X)
        np.testing.assert_allclose(outcome.arrays["mu"][i], theirs.means_, atol=1e-4)
        np.testing.assert_allclose(outcome.arrays["Sigma"][i], theirs.covariances_, atol=1e-4)
        expected = theirs.score(X) * len(X)
        assert outcome.metrics[f"log_likelihood_{steps}"] == pytest.approx(expected, abs=1e-4)
    found = outcome.metrics
    assert found["weight_1"] + found["weight_2"] == pytest.approx(1, abs=1e-12)
    assert found["iterations_until_close"] == 14
    for name in ("first_m_step_is_weighted_moments", "stationary_at_end", "bound_never_falls"):
        assert found[name] is True, name
    assert found["mean_derivative_as_printed"] is False
    assert found["mean_derivative_with_inverse"] is True
    assert list(study.draw(outcome)) == ["path", "objective"]


def test_a_random_start_shows_one_that_finds_the_best() -> None:
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
    ends = outcome.arrays["mu"][-1]
    for centre in centres:
        assert np.abs(ends - centre).sum(axis=1).min() < 0.4
    assert outcome.metrics["kmeans_agreement"] > 0.98
    assert outcome.arrays["iterations_to_settle"].min() >= 0
    assert (outcome.arrays["iterations_to_settle"] <= outcome.arrays["iterations"]).all()
    study.draw(outcome)


def test_a_collapse_at_once_is_reported() -> None:
    study = MixturePath(start=[[-1.5, 1.0], [40.0, 40.0]], variance=1e-4, jitter=0.0, repetitions=2)
    with pytest.raises(BadInput, match="collapses"):
        run(study)


def test_agreement_is_up_to_names() -> None:
    a = np.array([0, 0, 1, 1, 2, 2])
    assert agreement(a, np.array([2, 2, 0, 0, 1, 1]), 3) == 1.0
    assert agreement(a, np.array([2, 2, 0, 0, 1, 0]), 3) == pytest.approx(5 / 6)


def test_statements_can_be_false() -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    nowhere = start_at([[[1.0, 0.0], [0.0, 1.0]]], 2 * np.eye(2))
    found = gradient_statements(X, nowhere, nowhere)
    assert found["stationary_at_end"] is False
    round_ones = start_at([[[1.0, 0.0], [0.0, 1.0]]], np.eye(2))
    assert gradient_statements(X, round_ones, nowhere)["mean_derivative_as_printed"] is True
    assert never_falls(np.array([[1.0, 2.0, np.nan], [1.0, 1.0, 3.0]]))
    assert not never_falls(np.array([[1.0, 2.0, np.nan], [1.0, 0.9, 3.0]]))
    assert never_falls(np.array([[np.nan, np.nan]]))
