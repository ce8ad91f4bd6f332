"""The spread of estimates against a plain loop over data sets, and the knobs' rules."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.regression.estimator_variability import (
    SHOWN,
    EstimatorVariability,
    _line_metrics,
)

STUDY = EstimatorVariability(repetitions=500, experiments=400)


def run(study: EstimatorVariability, seed: int = 0) -> Outcome:
    return study.run(generator(study.name, seed))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"low": 1.0}, "low < high"),
        ({"weights": [1.0]}, "at least two, fewer than 20"),
        ({"weights": [1.0] * 3, "n": [20, 3]}, "fewer than 3"),
        ({"noise_variance": 0.0}, "study.noise_variance"),
        ({"show": ["nothing"]}, "study.show"),
        ({"n": [2]}, "study.n"),
        ({"printed_covariance": [1.0]}, "none, or the entries"),
        ({"printed_covariance": [1.0, 1.0, 1.0]}, "positive definite"),
        ({"printed_covariance": [2.0, 1.0, 1.0], "weights": [1.0] * 3}, "of two weights"),
        ({"printed_estimate": 0.2}, "which is empty"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        dataclasses.replace(STUDY, **knobs)  # type: ignore[arg-type]


def test_the_experiment_by_a_loop_over_data_sets() -> None:
    found = run(STUDY)
    rng = generator(STUDY.name, 0)
    x = rng.uniform(0, 1, 20)
    X = np.column_stack([np.ones(20), x])
    shown = X @ [-2, 3] + 0.5 * rng.standard_normal(20)
    weights, variances = [], []
    for noise in rng.standard_normal((500, 20)):
        t = X @ [-2, 3] + 0.5 * noise
        w, rss, _, _ = np.linalg.lstsq(X, t, rcond=None)
        weights.append(w)
        variances.append(rss[0] / 20)
    centred = np.array(weights) - np.mean(weights, axis=0)
    empirical = centred.T @ centred / 500
    theory = 0.25 * np.linalg.inv(X.T @ X)
    metrics = found.metrics
    for prefix, matrix in (("empirical_", empirical), ("", theory)):
        assert_allclose(metrics[f"{prefix}variance_w_0"], matrix[0, 0], rtol=1e-9)
        assert_allclose(metrics[f"{prefix}covariance_w_0_w_1"], matrix[0, 1], rtol=1e-9)
        assert_allclose(metrics[f"{prefix}variance_w_1"], matrix[1, 1], rtol=1e-9)
    assert_allclose(metrics["mean_w_1"], np.mean(weights, axis=0)[1], rtol=1e-12)
    assert_allclose(metrics["mean_noise_variance"], np.mean(variances), rtol=1e-12)
    assert metrics["expected_noise_variance"] == pytest.approx(0.225, rel=1e-12)
    # The data set that is shown, and the covariance with its own noise variance.
    rss = np.linalg.lstsq(X, shown, rcond=None)[1][0]
    assert_allclose(found.arrays["t"], shown, rtol=1e-12)
    assert_allclose(metrics["noise_variance_estimate"], rss / 20, rtol=1e-9)
    assert_allclose(metrics["plugin_variance_w_1"], theory[1, 1] * rss / 20 / 0.25, rtol=1e-9)
    for name in (
        "covariance_agrees_with_theory",
        "covariance_is_negative",
        "weights_are_unbiased",
        "noise_variance_is_low",
        "noise_variance_agrees_with_theory",
        "plugin_is_low_with_its_estimate",
    ):
        assert metrics[name] is True, name


def test_possible_experiments_have_the_distribution_of_simulated_ones() -> None:
    """Three hundred experiments, each simulated in full, against the study's shortcut."""
    study = dataclasses.replace(STUDY, repetitions=100)
    found = run(study).arrays
    rng = np.random.default_rng(1)
    means, variances = [], []
    for _ in range(300):
        X = np.column_stack([np.ones(20), rng.uniform(size=20)])
        t = X @ [-2, 3] + 0.5 * rng.standard_normal((100, 20))
        w = np.linalg.lstsq(X, t.T, rcond=None)[0].T
        means.append(w.mean(0)[1])
        variances.append(w.var(0)[0])
    assert stats.ks_2samp(found["possible_mean_w_1"], means).pvalue > 1e-3
    assert stats.ks_2samp(found["possible_empirical_variance_w_0"], variances).pvalue > 1e-3
    share = found["possible_noise_variance_estimate"] / 0.25 * 20
    assert stats.kstest(share, stats.chi2(18).cdf).pvalue > 1e-3
    ratio = found["possible_empirical_variance_w_1"] / found["possible_variance_w_1"]
    assert_allclose(found["possible_variance_w_1_ratio"], ratio, rtol=1e-12)


def test_inputs_on_both_sides_of_zero_turn_the_covariance() -> None:
    found = run(dataclasses.replace(STUDY, low=-1.0, high=0.0)).metrics
    assert found["covariance_w_0_w_1"] > 0
    assert found["covariance_is_negative"] is False


def test_the_noise_variance_by_size_of_the_data_set() -> None:
    study = dataclasses.replace(STUDY, n=[20, 200], weights=[1.0, 2.0, 3.0], repetitions=2000)
    found = run(study)
    assert_allclose(found.tables["noise_variance"]["expected"], [0.2125, 0.24625], rtol=1e-12)
    error = 0.25 * np.sqrt(2 * 17 / 2000) / 20
    assert_allclose(found.tables["noise_variance"]["standard_error"][0], error, rtol=1e-12)
    assert abs(float(found.metrics["mean_noise_variance_n_200"]) - 0.24625) < 0.01
    assert "mean_w_2" in found.metrics


def test_ten_lines_bracket_the_truth_as_a_rule_and_two_do_not() -> None:
    ten = run(STUDY).metrics
    two = run(dataclasses.replace(STUDY, lines=2)).metrics
    assert float(ten["share_of_figures_with_truth_between"]) > 0.9
    assert float(two["share_of_figures_with_truth_between"]) < 0.5
    assert_allclose(ten["share_above_truth"], 0.5, rtol=0, atol=0.1)


def test_a_covariance_tells_of_its_inputs() -> None:
    x = np.random.default_rng(2).uniform(size=20)
    X = np.column_stack([np.ones(20), x])
    exact = 0.25 * np.linalg.inv(X.T @ X)
    entries = [exact[0, 0], exact[0, 1], exact[1, 1]]
    study = dataclasses.replace(STUDY, printed_covariance=entries, printed_estimate=0.2)
    found = run(study).metrics
    assert found["implied_points"] == pytest.approx(20, rel=1e-9)
    assert found["implied_input_mean"] == pytest.approx(x.mean(), rel=1e-9)
    assert found["rescaled_covariance_w_0_w_1"] == pytest.approx(exact[0, 1] * 0.8, rel=1e-12)


def test_lines_on_one_side_do_not_bracket() -> None:
    """Groups of two about a truth of zero: crossing, below, above, on both sides."""
    lines = np.array([[1, -1], [-1, 1], [-1, -2], [-3, -1], [1, 2], [3, 1], [-1, -1], [1, 1.0]])
    found = _line_metrics(lines, np.zeros(2), 2)
    assert found["share_of_figures_with_truth_between"] == 0.5
    assert found["share_above_truth"] == 0.5


def test_the_first_figure_asked_for_comes_first() -> None:
    study = dataclasses.replace(STUDY, show=list(reversed(SHOWN)))
    figures = study.draw(run(study))
    assert list(figures) == list(reversed(SHOWN))
    assert figures["lines"].axes[0].get_xlabel() == "x"
