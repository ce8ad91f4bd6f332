"""The posterior by a grid over the weights; the noise by a grid over its variance."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.registry import figures
from bythebook.experiments.studies.regression.bayesian_line import BayesianLine
from bythebook.models.datasets import load

Run = Callable[..., Outcome]


@pytest.mark.parametrize("n", [1, 5, 27])
def test_the_posterior_by_adding_up_a_grid_of_weights(n: int, run: Run) -> None:
    found = run(BayesianLine(sigma2=10.0, observed=[n], predict_at=[2012.0], threshold=9.5))
    year, t = load("olympics-100m-men").xt
    x = (year - 1896) / 4
    (w0, w1), C = found["w_mean"].values[0], found["w_covariance"].values[0]
    a, b = np.meshgrid(
        w0 + 7 * np.sqrt(C[0, 0]) * np.linspace(-1, 1, 301),
        w1 + 7 * np.sqrt(C[1, 1]) * np.linspace(-1, 1, 301),
    )
    log_p = np.asarray(stats.norm(0, 10).logpdf(a) + stats.norm(0, np.sqrt(5)).logpdf(b))
    for k in range(n):
        log_p += stats.norm(a + b * x[k], np.sqrt(10)).logpdf(t[k])
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    assert_allclose([w0, w1], [(p * a).sum(), (p * b).sum()], rtol=1e-6, atol=1e-9)
    offsets = a - w0, b - w1
    moments = [[(p * left * right).sum() for left in offsets] for right in offsets]
    assert_allclose(C, moments, rtol=1e-5, atol=1e-9)
    assert_allclose(found["chance_of_falling"].values[0], p[b < 0].sum(), atol=0.02)
    assert_allclose(found["log_determinant"].values[0], np.log(np.linalg.det(C)), rtol=1e-9)
    line_2012 = a + 29 * b
    mean = (p * line_2012).sum()
    variance = 10 + (p * (line_2012 - mean) ** 2).sum()
    assert found["scaled_input"].item == 29
    assert_allclose(found["prediction"].item, mean, rtol=1e-6)
    assert_allclose(found["prediction_variance"].item, variance, rtol=1e-6)
    below = (p * stats.norm(line_2012, np.sqrt(10)).cdf(9.5)).sum()
    assert_allclose(found["chance_below"].item, below, rtol=1e-5)
    last = a + x[-1] * b
    sd = np.sqrt((p * (last - (p * last).sum()) ** 2).sum())
    assert_allclose(found["line_sd"].values[0, -1], sd, rtol=1e-5)


def test_fcml_3_7_6_predicts_2012(run: Run) -> None:
    """Printed: N(9.5951, 0.0572)."""
    found = run(BayesianLine(sigma2=0.05, observed=[27], predict_at=[2012.0]))
    assert round(float(found["prediction"].item), 4) == 9.5951
    assert round(float(found["prediction_variance"].item), 4) == 0.0572


def test_the_prior_stands_at_zero_observations(run: Run) -> None:
    found = run(BayesianLine(observed=[0, 1, 10]))
    assert_allclose(found["w_covariance"].sel(observed=0), np.diag([100, 5]))
    assert found["w_covariance"].sel(observed=10, weight=0, other=1).item < 0
    moved = run(BayesianLine(observed=[5, 10], shift=2000.0))  # inputs left of zero
    assert np.all(moved["w_covariance"].sel(weight=0, other=1).values > 0)


def test_lines_are_drawn_from_the_belief(run: Run) -> None:
    found = run(BayesianLine(observed=[0, 10], samples=200))
    for n in (0, 10):
        first = found["lines"].sel(observed=n, x=0.0).values  # the intercepts
        w0 = found["w_mean"].sel(observed=n, weight=0).item
        v0 = found["w_covariance"].sel(observed=n, weight=0, other=0).item
        assert abs(first.mean() - w0) < 4 * np.sqrt(v0 / 200)
        assert_allclose(first.var(), v0, rtol=0.4)


def test_the_noise_by_adding_up_a_grid_of_variances(run: Run) -> None:
    found = run(BayesianLine(alpha=2.0, beta=0.1))
    year, t = load("olympics-100m-men").xt
    residuals = t - np.polyval(np.polyfit(year - 1950, t, 1), year - 1950)
    v = np.linspace(0.01, 0.4, 20_001)
    log_p = stats.invgamma(2, scale=0.1).logpdf(v)
    log_p += stats.norm(0, np.sqrt(v)[:, None]).logpdf(residuals).sum(-1)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    alpha, beta = found["noise_alpha"].item, found["noise_beta"].item
    assert alpha == 2 + 13.5
    expected = stats.invgamma(alpha, scale=beta)
    assert_allclose([expected.mean(), expected.var()], [p @ v, p @ (v - p @ v) ** 2], rtol=1e-4)
    curve = found["noise_posterior"]
    assert_allclose(curve, expected.pdf(curve.coord("v")), rtol=1e-9)
    assert_allclose(found["noise_variance"].item, np.mean(residuals**2), rtol=1e-9)


def test_requested_figures_are_drawn(run: Run) -> None:
    study = BayesianLine(observed=[0, 1, 27], predict_at=[2012.0], threshold=9.5)
    drawn = figures(study, run(study))
    assert list(drawn) == ["data", "posterior", "lines", "predictive", "noise"]
    assert drawn["lines"].axes[0].get_ylabel() == "Winning time (s)"


@pytest.mark.parametrize(
    "knobs",
    [
        {"prior_mean": [0.0]},
        {"prior_variances": [1.0, 0.0]},
        {"observed": [28]},
        {"observed": [5, 2]},
        {"sigma2": 0.0},
        {"alpha": 0.0},
        {"scale": 0.0},
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object]) -> None:
    with pytest.raises(InputError, match=f"study.{next(iter(knobs))}"):
        BayesianLine(**knobs)  # type: ignore[arg-type]
