"""The study of one least-squares fit: knob rules, and the outcome against NumPy's own fit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.regression.linear_fit import LinearFit
from models.datasets import load


def run(study: LinearFit) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": "nowhere"}, "study.data=nowhere"),
        ({"model": "cubic"}, "study.model=cubic"),
        ({"b": 0.0}, "study.b"),
        ({"predict_at": [2012, 2012]}, "repeats an entry"),
        ({"rounded_weights": [1.0]}, "none, or 2"),
        ({"rounded_weights": [1.0, 2.0], "model": "line_and_sine"}, "none, or 3"),
        ({"show_from": 2008}, "shows no data"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        LinearFit(**knobs)  # type: ignore[arg-type]


@pytest.mark.parametrize("data", ["olympics-100m-men", "olympics-100m-women"])
def test_the_line_against_polyfit(data: str) -> None:
    found = run(LinearFit(data=data, predict_at=[2012, 2016])).metrics
    x, t = load(data).xt
    (slope, intercept), scaled = np.polyfit(x, t, 1, cov="unscaled")
    errors = t - intercept - slope * x
    variance = errors @ errors / len(t)
    assert_allclose([found["w_0"], found["w_1"]], [intercept, slope], rtol=1e-9)
    assert_allclose(found["total_loss"], errors @ errors, rtol=1e-9)
    assert_allclose(found["noise_variance"], variance, rtol=1e-9)
    assert_allclose(found["prediction_2016"], intercept + 2016 * slope, rtol=1e-9)
    # polyfit lists the highest power first
    assert_allclose(found["variance_w_0"], variance * scaled[1, 1], rtol=1e-7)
    assert_allclose(found["variance_w_1"], variance * scaled[0, 0], rtol=1e-7)
    assert_allclose(found["covariance_w_0_w_1"], variance * scaled[0, 1], rtol=1e-7)
    assert_allclose(found["variance_ratio"], scaled[1, 1] / scaled[0, 0], rtol=1e-7)
    correlation = scaled[0, 1] / np.sqrt(scaled[0, 0] * scaled[1, 1])
    assert_allclose(found["correlation_w_0_w_1"], correlation, rtol=1e-7)
    assert_allclose(found["w_1_numerator"], np.cov(x, t, bias=True)[0, 1], rtol=1e-9)
    assert_allclose(found["w_1_denominator"], np.var(x), rtol=1e-9)
    assert found["averages_give_same_weights"] is True
    likelihood = -len(t) / 2 * (1 + np.log(2 * np.pi * variance))
    assert_allclose(found["log_likelihood"], likelihood, rtol=1e-9)


def test_the_sine_against_lstsq() -> None:
    found = run(LinearFit(model="line_and_sine")).metrics
    x, t = load("olympics-100m-men").xt
    Phi = np.column_stack([np.ones(27), (x - 1950) / 60, np.sin((x - 2660) / 4.3)])
    (c, slope, sine), loss, *_ = np.linalg.lstsq(Phi, t, rcond=None)
    assert_allclose(found["w_0"], c - slope * 1950 / 60, rtol=1e-9)
    assert_allclose(found["w_1"], slope / 60, rtol=1e-9)
    assert_allclose(found["w_2"], sine, rtol=1e-9)
    assert_allclose(found["total_loss"], loss[0], rtol=1e-9)
    assert "w_1_numerator" not in found  # equation 1.10 is about a line


def test_rounded_weights_repeat_the_displayed_arithmetic() -> None:
    study = LinearFit(predict_at=[2012, 2016], rounded_weights=[36.416, -0.0133], show_from=1980)
    outcome = run(study)
    assert_allclose(outcome.metrics["rounded_prediction_2012"], 9.6564, rtol=1e-12)
    assert_allclose(outcome.metrics["rounded_prediction_2016"], 9.6032, rtol=1e-12)
    assert outcome.tables["predictions"]["input"] == [2012, 2016]
    assert outcome.arrays["grid"][[0, -1]].tolist() == [1980, 2016]
    (ax,) = study.draw(outcome)["fit"].axes
    assert ax.get_ylabel() == "Winning time (s)"
    assert len(ax.lines[1].get_xdata()) == 8  # only the games from 1980 on are drawn
