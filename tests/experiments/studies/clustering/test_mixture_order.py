"""The number of components against closed forms and scikit-learn."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.clustering.mixture_order import MixtureOrder

DATA = {"data": "fcml-kmeans", "standardise": False}


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"folds": 1}, "study.folds"),
        ({"folds": 100, "data": None, "centres": [[0.0, 0.0]]}, "study.folds"),
        ({"k": [3, 2]}, "study.k"),
        ({"floor": 0.0}, "study.floor"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        MixtureOrder(**knobs)  # type: ignore[arg-type]


def test_training_likelihood_against_scikit_learn() -> None:
    kinds = {"full": "full", "diagonal": "diag", "spherical": "spherical"}
    study = MixtureOrder(**DATA, k=[1, 3], covariances=list(kinds))  # type: ignore[arg-type]
    outcome = study.run(generator(study.name, 0))
    X = outcome.arrays["X"]
    one = multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True)).logpdf(X).sum()
    assert outcome.metrics["log_likelihood_full_k1"] == pytest.approx(one, rel=1e-9)
    for ours, theirs in kinds.items():
        best = GaussianMixture(3, covariance_type=theirs, n_init=5, tol=1e-7, random_state=0).fit(X)
        expected = best.score(X) * len(X)
        assert outcome.metrics[f"log_likelihood_{ours}_k3"] == pytest.approx(expected, abs=0.05)
    assert outcome.metrics["covariance_parameters"] == 55
    assert outcome.metrics["full_fits_no_worse_than_diagonal"] is True
    assert list(study.draw(outcome)) == ["training"]


def test_cross_validation_of_one_gaussian_against_a_loop() -> None:
    study = MixtureOrder(**DATA, k=[1, 2], folds=4, restarts=2)  # type: ignore[arg-type]
    outcome = study.run(generator(study.name, 0))
    X, held = outcome.arrays["X"], outcome.arrays["held_out_full"]
    assert held.shape == (1, 2, 4)
    # A single Gaussian: about the value without folds, and a little lower.
    whole = multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True)).logpdf(X).mean()
    assert whole - 0.3 < held[0, 0].mean() < whole
    assert outcome.metrics["best_k_full"] == 2
    assert list(study.draw(outcome)) == ["held-out", "training"]
