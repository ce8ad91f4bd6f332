"""The line as a generator: generated data refitted by hand, and the knobs' rules."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.drawing.registry import figures
from experiments.studies.regression.generative_line import SHOWN, GenerativeLine
from models.datasets import load

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": "fcml-toy-regression"}, "fewer than four"),
        ({"show": "density", "density_at": 1981.0}, "no input"),
        ({"show": "density", "noise_variance": 0.0}, "has no density"),
        ({"inputs": [1.0, 2.0]}, "three and more"),
        ({"noise_variance": -1.0}, "study.noise_variance"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        GenerativeLine(**knobs)  # type: ignore[arg-type]


def test_errors_and_density_against_scipy(run: Run) -> None:
    found = run(GenerativeLine())
    x, t = load("olympics-100m-men").xt
    slope, intercept = stats.linregress(x, t)[:2]
    errors = t - intercept - slope * x
    assert_allclose(found["errors"], errors, atol=1e-9)
    for check, expected in {
        "direction by ranks": stats.spearmanr(errors, x),
        "size by ranks": stats.spearmanr(np.abs(errors), x),
        "size by values": stats.pearsonr(np.abs(errors), x),
    }.items():
        assert_allclose(found["p_value"].at(check=check).item, expected.pvalue, rtol=1e-8)
    density = stats.norm(intercept + slope * x, np.sqrt(0.05)).pdf(t)
    assert_allclose(found["likelihood"], density, rtol=1e-9)
    curve = found["density"]
    at_1980 = stats.norm(intercept + slope * 1980, np.sqrt(0.05))
    assert_allclose(curve, at_1980.pdf(curve.along("target")), rtol=1e-9)


def test_generated_data_are_refitted(run: Run) -> None:
    study = GenerativeLine(inputs=[0.0, 1.0, 2.0, 5.0], repetitions=400, noise_variance=0.3)
    outcome = run(study)
    loss = np.polyfit(study.inputs, outcome["generated"].values, 1, full=True)[1][0]
    again = outcome["generated_noise_variance"].values
    assert_allclose(again[0], loss / 4, rtol=1e-9)
    assert stats.kstest(again * 4 / 0.3, stats.chi2(2).cdf).pvalue > 1e-3


def test_without_noise_the_line_comes_back(run: Run) -> None:
    found = run(GenerativeLine(noise_variance=0.0, repetitions=1))
    assert_allclose(found["generated"], found["generated_from"], rtol=0, atol=0)
    assert found["generated_noise_variance"].values[0] < 1e-20
    assert "density" not in found


@pytest.mark.parametrize("show", SHOWN)
def test_each_figure_is_drawn(show: str, run: Run) -> None:
    study = GenerativeLine(show=show, repetitions=20)
    assert list(figures(study, run(study))) == [show]
