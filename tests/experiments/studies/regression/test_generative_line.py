"""The line as a generator: generated data refitted by hand, and the knobs' rules."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.regression.generative_line import SHOWN, GenerativeLine
from models.datasets import load


def run(study: GenerativeLine) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": "fcml-toy-regression"}, "fewer than four"),
        ({"show": "density", "density_at": 1981.0}, "no input"),
        ({"show": "density", "noise_variance": 0.0}, "has no density"),
        ({"inputs": [1.0, 2.0]}, "three and more"),
        ({"rounded_weights": [1.0]}, "none, or 2"),
        ({"noise_variance": -1.0}, "study.noise_variance"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        GenerativeLine(**knobs)  # type: ignore[arg-type]


def test_errors_and_density_against_scipy() -> None:
    found = run(GenerativeLine(rounded_weights=[36.0, -0.013])).metrics
    x, t = load("olympics-100m-men").xt
    slope, intercept = stats.linregress(x, t)[:2]
    errors = t - intercept - slope * x
    size = stats.spearmanr(np.abs(errors), x)
    assert_allclose(found["error_size_rank_p_value"], size.pvalue, rtol=1e-9)
    assert found["errors_above"] == np.sum(errors > 0)
    mean = intercept + slope * 1980
    density = stats.norm(mean, np.sqrt(0.05)).pdf(10.25)
    assert_allclose(found["likelihood_of_target"], density, rtol=1e-9)
    assert_allclose(found["rounded_density_mean"], 36 - 0.013 * 1980, rtol=1e-12)


def test_generated_data_are_refitted() -> None:
    study = GenerativeLine(inputs=[0.0, 1.0, 2.0, 5.0], repetitions=400, noise_variance=0.3)
    outcome = run(study)
    x = np.array(study.inputs)
    loss = np.polyfit(x, outcome.arrays["generated"], 1, full=True)[1][0]
    assert_allclose(outcome.arrays["generated_noise_variance"][0], loss / 4, rtol=1e-9)
    shares = outcome.arrays["generated_noise_variance"] * 4 / 0.3
    assert stats.kstest(shares, stats.chi2(2).cdf).pvalue > 1e-3
    assert outcome.metrics["generated_on_the_line"] is False


def test_without_noise_the_line_comes_back() -> None:
    found = run(GenerativeLine(noise_variance=0.0, repetitions=1)).metrics
    assert found["generated_on_the_line"] is True
    assert found["generated_scatter_unlike_data"] is True
    assert "density_mean" not in found


@pytest.mark.parametrize("show", SHOWN)
def test_each_figure_is_drawn(show: str) -> None:
    study = GenerativeLine(show=show, repetitions=20)
    assert list(study.draw(run(study))) == [show]
