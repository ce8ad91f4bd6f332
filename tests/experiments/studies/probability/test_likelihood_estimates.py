"""The study of closed-form estimates: a wrong estimate or information must be seen."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.probability.likelihood_estimates import LikelihoodEstimates
from bythebook.models.datasets import load
from bythebook.models.probability import distributions, estimates, gaussian
from bythebook.models.probability.gaussian import Gaussian
from bythebook.models.types import Floats

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"q": [0.0]}, "study.q"),
        ({"variances": [1.0]}, "allowed: 3, as in study.mean"),
        ({"mean": [0.0] * 12, "variances": [1.0] * 12, "n": 12}, "> 12, the dimensions"),
        ({"correlation": 1.0}, "study.correlation"),
        ({"new": [1]}, "equally many words"),
        ({"families": []}, "study.families"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        LikelihoodEstimates(**knobs)  # type: ignore[arg-type]


def test_estimates_are_maxima_and_information_is_what_scores_give(run: Run) -> None:
    found = run(LikelihoodEstimates())
    gain = found["bernoulli_gain"]
    ones = round(50 * found["share_of_ones"].values[1])
    others = stats.binom(50, gain.coord("other_q")[1:-1]).logpmf(ones)
    best = stats.binom(50, ones / 50).logpmf(ones)
    assert_allclose(gain.values[1, 1:-1], others - best, atol=1e-9)
    assert gain.values.max() <= 1e-9
    assert found["gaussian_gain"].values.max() < 0
    information = found["bernoulli_information"].values
    assert_allclose(found["expected_curvature"], information, rtol=1e-12)
    error = found["squared_score_error"].values
    assert np.all(np.abs(found["squared_score"] - information) <= 4.5 * error + 1e-9)
    C = np.array([[1, 2**0.5, 0.5**0.5], [2**0.5, 2, 1], [0.5**0.5, 1, 0.5]])
    C[~np.eye(3, dtype=bool)] *= 0.4
    assert_allclose(found["mean_information"], np.linalg.inv(C), rtol=1e-9)
    gap = np.abs(found["squared_mean_score"] - found["mean_information"].values)
    assert np.all(gap < 4.5 * found["squared_mean_score_error"].values)


def test_both_forms_of_the_noise(run: Run) -> None:
    found = run(LikelihoodEstimates())
    x, t = load("olympics-100m-men").xt
    errors = t - np.polyval(np.polyfit(x, t, 1), x)
    for name in ("noise_variance", "noise_variance_by_products"):
        assert_allclose(found[name].item, np.mean(errors**2), rtol=1e-8)


def test_a_divisor_of_n_minus_one_is_not_the_maximum(
    monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    def unbiased(X: Floats) -> Gaussian:
        return Gaussian(X.mean(0), np.atleast_2d(np.cov(X.T)))

    monkeypatch.setattr(estimates, "estimate", unbiased)
    found = run(LikelihoodEstimates(trials=5000))
    assert found["gaussian_gain"].sel(gaussian="one").values.max() > 0


def test_wrong_information_is_seen(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.setattr(distributions, "bernoulli_information", lambda q: 1.1 / q / (1 - q))
    monkeypatch.setattr(gaussian, "mean_information", lambda S: S)
    found = run(LikelihoodEstimates())
    gap = np.abs(found["squared_score"] - found["bernoulli_information"].values)
    assert np.any(gap > 4.5 * found["squared_score_error"].values + 1e-9)
    gap = np.abs(found["squared_mean_score"] - found["mean_information"].values)
    assert np.any(gap > 4.5 * found["squared_mean_score_error"].values)


def test_a_small_class_by_hand(run: Run) -> None:
    small = {"counts": [2, 1, 0], "new": [1, 0, 1], "alphas": [2.0]}
    found = run(LikelihoodEstimates(families=["multinomial"], **small))  # type: ignore[arg-type]
    assert_allclose(found["map_estimate"].values, [[3 / 6, 2 / 6, 1 / 6]])  # FCML 5.8
    assert_allclose(found["map_by_search"].values, found["map_estimate"].values, atol=1e-6)
    assert_allclose(found["ml_by_search"].values, [2 / 3, 1 / 3, 0], atol=1e-5)
    assert_allclose(found["map_likelihood"].values, [2 * 3 / 6 * 1 / 6])  # two orders
    # two orders of two words: 2 E{q_1 q_3} = 2 * 4 * 2 / (9 * 10) under Dirichlet(4, 3, 2)
    assert_allclose(found["expected_likelihood"].values, [2 * 4 * 2 / 90])
    assert found["ml_likelihood"].item == 0
    for sampled, exact in (
        ("sampled_likelihood", "expected_likelihood"),
        ("sampled_mean", "posterior_mean"),
    ):
        gap = np.abs(found[sampled].values - found[exact].values)
        assert np.all(gap < 4 * found[f"{sampled}_error"].values)
