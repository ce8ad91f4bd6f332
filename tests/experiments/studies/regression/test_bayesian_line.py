"""The posterior by a grid over the weights; the noise by a grid over its variance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, generator
from experiments.drawing.canvas import style
from experiments.studies.regression.bayesian_line import BayesianLine, NoisePosterior
from models.datasets import load


def run(study: Study) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize("n", [1, 5, 27])
def test_the_posterior_by_adding_up_a_grid_of_weights(n: int) -> None:
    study = BayesianLine(sigma2=10.0, observed=[n], predict_at=[2012.0], threshold=9.5)
    found = run(study).metrics
    year, t = load("olympics-100m-men").xt
    x = (year - 1896) / 4
    (w0, v0), (w1, v1) = ((found[f"w_{i}_n_{n}"], found[f"variance_w_{i}_n_{n}"]) for i in (0, 1))
    a, b = np.meshgrid(
        w0 + 7 * np.sqrt(v0) * np.linspace(-1, 1, 301),
        w1 + 7 * np.sqrt(v1) * np.linspace(-1, 1, 301),
    )
    log_p = np.asarray(stats.norm(0, 10).logpdf(a) + stats.norm(0, np.sqrt(5)).logpdf(b))
    for k in range(n):
        log_p += stats.norm(a + b * x[k], np.sqrt(10)).logpdf(t[k])
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    assert_allclose([w0, w1], [(p * a).sum(), (p * b).sum()], rtol=1e-6, atol=1e-9)
    assert_allclose([v0, v1], [(p * (a - w0) ** 2).sum(), (p * (b - w1) ** 2).sum()], rtol=1e-6)
    covariance = (p * (a - w0) * (b - w1)).sum()
    assert_allclose(found[f"covariance_w_0_w_1_n_{n}"], covariance, rtol=1e-5, atol=1e-9)
    assert_allclose(found[f"slope_is_negative_n_{n}"], p[b < 0].sum(), atol=0.02)
    line_2012 = a + 29 * b
    mean = (p * line_2012).sum()
    variance = 10 + (p * (line_2012 - mean) ** 2).sum()
    assert_allclose(found["prediction_2012"], mean, rtol=1e-6)
    assert_allclose(found["prediction_variance_2012"], variance, rtol=1e-6)
    below = (p * stats.norm(line_2012, np.sqrt(10)).cdf(9.5)).sum()
    assert_allclose(found["chance_below_2012"], below, rtol=1e-5)
    last = a + x[-1] * b
    assert_allclose(
        found[f"line_sd_last_n_{n}"], np.sqrt((p * (last - (p * last).sum()) ** 2).sum()), rtol=1e-5
    )


def test_fcml_3_7_6_predicts_2012() -> None:
    """Printed: N(9.5951, 0.0572)."""
    found = run(BayesianLine(sigma2=0.05, observed=[27], predict_at=[2012.0])).metrics
    assert round(found["prediction_2012"], 4) == 9.5951
    assert round(found["prediction_variance_2012"], 4) == 0.0572


def test_statements_about_arriving_data() -> None:
    found = run(BayesianLine(observed=[0, 1, 2, 5, 10])).metrics
    assert found["posterior_condenses"] is True
    assert found["dependence_is_negative"] is True
    assert found["dependence_grows"] is False  # none in the prior, none after one point at zero
    assert found["variance_share_w_0_n_0"] == found["variance_share_w_1_n_0"] == 1
    moved = run(BayesianLine(observed=[5, 10], shift=2000.0)).metrics  # inputs left of zero
    assert moved["dependence_is_negative"] is False


def test_lines_are_drawn_from_the_belief() -> None:
    outcome = run(BayesianLine(observed=[0, 10], samples=200))
    first = outcome.arrays["lines"][:, :, 0]  # at x = 0: the intercepts
    for k, n in enumerate((0, 10)):
        w0, v0 = outcome.metrics[f"w_0_n_{n}"], outcome.metrics[f"variance_w_0_n_{n}"]
        assert abs(first[k].mean() - w0) < 4 * np.sqrt(v0 / 200)
        assert_allclose(first[k].var(), v0, rtol=0.4)


def test_the_noise_by_adding_up_a_grid_of_variances() -> None:
    study = NoisePosterior(alpha=2.0, beta=0.1)
    found = run(study).metrics
    year, t = load("olympics-100m-men").xt
    residuals = t - np.polyval(np.polyfit(year - 1950, t, 1), year - 1950)
    v = np.linspace(0.01, 0.4, 20_001)
    log_p = stats.invgamma(2, scale=0.1).logpdf(v)
    log_p += stats.norm(0, np.sqrt(v)[:, None]).logpdf(residuals).sum(-1)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    assert_allclose(found["mean"], p @ v, rtol=1e-5)
    assert_allclose(found["mode"], v[p.argmax()], rtol=0, atol=2e-5)
    expected = stats.invgamma(found["posterior_alpha"], scale=found["posterior_beta"])
    assert_allclose(expected.var(), p @ (v - p @ v) ** 2, rtol=1e-4)
    assert found["posterior_is_prior_times_likelihood"] is True
    assert found["gain_alpha"] == 13.5


def test_figures_are_drawn() -> None:
    show = ["data", "posterior", "lines", "predictive"]
    study = BayesianLine(observed=[0, 1, 27], predict_at=[2012.0], threshold=9.5, show=show)
    with style("screen"):
        assert list(study.draw(run(study))) == show
        noise = NoisePosterior()
        assert list(noise.draw(run(noise))) == ["noise"]


@pytest.mark.parametrize(
    "knobs",
    [
        {"prior_mean": [0.0]},
        {"prior_variances": [1.0, 0.0]},
        {"observed": [28]},
        {"observed": [5, 2]},
        {"sigma2": 0.0},
        {"show": ["predictive"]},
        {"scale": 0.0},
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object]) -> None:
    with pytest.raises(BadInput, match=f"study.{next(iter(knobs))}"):
        BayesianLine(**knobs)  # type: ignore[arg-type]
