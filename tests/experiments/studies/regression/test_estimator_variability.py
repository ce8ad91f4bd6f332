"""The spread of estimates against a plain loop over data sets, and the knobs' rules."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.plotting.registry import figures
from bythebook.experiments.studies.regression.estimator_variability import EstimatorVariability

Run = Callable[..., Outcome]
STUDY = EstimatorVariability(repetitions=500, experiments=400)


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"low": 1.0}, "low < high"),
        ({"weights": [1.0]}, "at least two, fewer than 20"),
        ({"weights": [1.0] * 3, "n": [20, 3]}, "fewer than 3"),
        ({"noise_variance": 0.0}, "study.noise_variance"),
        ({"n": [2]}, "study.n"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        dataclasses.replace(STUDY, **knobs)  # type: ignore[arg-type]


def test_the_experiment_by_a_loop_over_data_sets(run: Run) -> None:
    found = run(STUDY)
    rng = make_rng(0)
    x = rng.uniform(0, 1, 20)
    X = np.column_stack([np.ones(20), x])
    shown = X @ [-2, 3] + 0.5 * rng.standard_normal(20)
    weights, variances = [], []
    for noise in rng.standard_normal((500, 20)):
        t = X @ [-2, 3] + 0.5 * noise
        w, rss, _, _ = np.linalg.lstsq(X, t, rcond=None)
        weights.append(w)
        variances.append(rss[0] / 20)
    theory = 0.25 * np.linalg.inv(X.T @ X)
    assert_allclose(found["targets"], shown, rtol=1e-12)
    assert_allclose(found["w_hat"], weights, rtol=1e-9)
    assert_allclose(found["noise_variance_estimate"], variances, rtol=1e-9)
    assert_allclose(found["covariance"], theory, rtol=1e-9)
    centred = np.array(weights) - np.mean(weights, axis=0)
    assert_allclose(found["empirical_covariance"], centred.T @ centred / 500, rtol=1e-9)
    assert_allclose(found["mean_noise_variance"].item, np.mean(variances), rtol=1e-12)
    lines = np.array(weights) @ np.vstack([np.ones(41), np.linspace(0, 1, 41)])
    assert_allclose(found["lines"], lines[:10], rtol=1e-9)


def test_possible_experiments_have_the_distribution_of_simulated_ones(run: Run) -> None:
    """Three hundred experiments, each simulated in full, against the study's shortcut."""
    found = run(dataclasses.replace(STUDY, repetitions=100))
    rng = np.random.default_rng(1)
    means, variances, theory = [], [], []
    for _ in range(300):
        X = np.column_stack([np.ones(20), rng.uniform(size=20)])
        t = X @ [-2, 3] + 0.5 * rng.standard_normal((100, 20))
        w = np.linalg.lstsq(X, t.T, rcond=None)[0].T
        means.append(w.mean(0)[1])
        variances.append(w.var(0)[0])
        theory.append(0.25 * np.linalg.inv(X.T @ X)[0, 1])
    intercept, both = {"weight": 0, "other": 0}, {"weight": 0, "other": 1}
    for quantity, simulated in (
        (found["possible_mean_w"].sel(weight=1), means),
        (found["possible_empirical_covariance"].sel(**intercept), variances),
        (found["possible_covariance"].sel(**both), theory),
    ):
        assert stats.ks_2samp(quantity.values, simulated).pvalue > 1e-3
    share = found["possible_noise_variance_estimate"].values / 0.25 * 20
    assert stats.kstest(share, stats.chi2(18).cdf).pvalue > 1e-3


def test_inputs_on_the_other_side_of_zero_turn_the_covariance(run: Run) -> None:
    found = run(dataclasses.replace(STUDY, low=-1.0, high=0.0))
    assert found["covariance"].values[0, 1] > 0
    assert np.all(found["possible_covariance"].sel(weight=0, other=1).values > 0)


def test_the_noise_variance_by_size_of_the_data_set(run: Run) -> None:
    study = dataclasses.replace(STUDY, n=[20, 200], weights=[1.0, 2.0, 3.0], repetitions=2000)
    found = run(study)
    assert abs(found["mean_noise_variance"].sel(n=200).item - 0.24625) < 0.01
    assert found["w_hat"].values.shape == (2000, 3)


def test_ten_lines_bracket_the_truth_as_a_rule_and_two_do_not(run: Run) -> None:
    assert run(STUDY)["share_with_truth_between"].item > 0.9
    assert run(dataclasses.replace(STUDY, lines=2))["share_with_truth_between"].item < 0.5


def test_each_figure_is_drawn(run: Run) -> None:
    drawn = figures(STUDY, run(STUDY), {"noise_variance": [0.25, 2], "estimates": [], "lines": []})
    assert list(drawn) == ["noise_variance", "estimates", "lines"]
    assert drawn["lines"].axes[0].get_xlabel() == "x"
