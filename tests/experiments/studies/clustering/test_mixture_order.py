"""The number of components against closed forms and scikit-learn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.clustering.mixture_order import MixtureOrder

Run = Callable[..., Outcome]
DATA: dict[str, Any] = {"data": "fcml-kmeans", "standardise": False}


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"folds": 1}, "study.folds"),
        ({"folds": 100, "data": None, "centres": [[0.0, 0.0]]}, "study.folds"),
        ({"k": [3, 3]}, "study.k"),
        ({"floor": 0.0}, "study.floor"),
        ({"prior_variances": [0.0]}, "study.prior_variances"),
        ({"prior_variances": [1.0], "data": None, "centres": [[0.0]]}, "1 variables"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        MixtureOrder(**knobs)  # type: ignore[arg-type]


def test_training_likelihood_against_scikit_learn(run: Run) -> None:
    kinds = {"full": "full", "diagonal": "diag", "spherical": "spherical"}
    outcome = run(MixtureOrder(**DATA, k=[1, 3], covariances=list(kinds)))
    X, found = outcome["points"].values, outcome["log_likelihood"]
    one = multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True)).logpdf(X).sum()
    assert found.sel(covariance="full", k=1).item == pytest.approx(one, rel=1e-9)
    for ours, theirs in kinds.items():
        best = GaussianMixture(3, covariance_type=theirs, n_init=5, tol=1e-7, random_state=0).fit(X)
        expected = best.score(X) * len(X)
        assert found.sel(covariance=ours, k=3).item == pytest.approx(expected, abs=0.05)
    assert outcome["fewest_parts"].sel(k=1).values.max() == 3  # three components share the one
    best = GaussianMixture(3, n_init=5, tol=1e-7, random_state=0).fit_predict(X)
    assert adjusted_rand_score(best, outcome["responsibilities"].values.argmax(axis=1)) > 0.98
    assert "held_out" not in outcome


def test_cross_validation_of_one_gaussian_against_the_whole(run: Run) -> None:
    study = MixtureOrder(**DATA, k=[1, 2], folds=4, restarts=2)
    outcome = run(study)
    X, held = outcome["points"].values, outcome["held_out"].sel(covariance="full").values
    assert held.shape == (2, 4)
    # A single Gaussian: about the value without folds, and a little lower.
    whole = multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True)).logpdf(X).mean()
    assert whole - 0.3 < held[0].mean() < whole
    assert held[1].mean() > held[0].mean()


def test_priors_pin_the_means_or_leave_them_alone(run: Run) -> None:
    study = MixtureOrder(**DATA, k=[3], restarts=5, prior_variances=[1e-8, 1.0, 1e8])
    outcome = run(study)
    means = outcome["means_with_prior"].values
    np.testing.assert_allclose(means[0], 0.0, atol=1e-3)
    loose, without = (
        sorted(means[-1].tolist()),
        sorted(outcome["means_without_prior"].values.tolist()),
    )
    np.testing.assert_allclose(loose, without, atol=0.01)
    distance = np.sqrt((means[1] ** 2).sum(axis=1).mean())
    found = outcome["distance_from_prior"].sel(prior_variance=1.0).item
    assert found == pytest.approx(distance)
