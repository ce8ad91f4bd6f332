"""The shared generator, and the study of its data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.regression.curve_data import CurveData


def test_noise_scales_the_same_random_numbers() -> None:
    """Cells of a sweep over the noise see one stream, so that they differ by the noise alone."""
    quiet, loud = (
        CurveData(noise=noise, n=7, repetitions=3).sets(generator("curve_data", 0), 3)
        for noise in (0.1, 0.3)
    )
    truth = np.sin(2 * np.pi * quiet[0])
    assert_allclose(loud[1] - truth, 3 * (quiet[1] - truth), rtol=1e-9)


def test_true_order_ignores_trailing_zeros() -> None:
    assert CurveData(curve="polynomial", weights=[1.0, 0.0, 2.0, 0.0]).true_order == 2
    assert CurveData(curve="polynomial", weights=[0.0]).true_order == 0
    assert CurveData(curve="sine").true_order is None


def test_share_within_one_standard_deviation_is_the_normal_one() -> None:
    study = CurveData(n=100, design="uniform", repetitions=400)
    outcome = study.run(generator(study.name, 0))
    p = norm.cdf(1) - norm.cdf(-1)
    standard_error = np.sqrt(p * (1 - p) / 40_000)
    found = outcome.metrics["share_within_one_sd"]
    assert_allclose(found, p, rtol=0, atol=4 * standard_error)
    assert outcome.arrays["residual_rms"].shape == (400,)
    assert outcome.metrics["equally_spaced"] is False
    assert outcome.metrics["inputs_in_interval"] is True


def test_an_embedded_data_set_takes_the_place_of_draws() -> None:
    study = CurveData(data="curve-fitting")
    outcome = study.run(generator(study.name, 0))
    assert outcome.metrics["n_points"] == 10
    assert outcome.metrics["equally_spaced"] is True
    assert outcome.tables["data"]["t"][0] == 0.349486
    expected = np.sqrt(
        np.mean((outcome.arrays["t"] - np.sin(2 * np.pi * outcome.arrays["x"])) ** 2)
    )
    assert_allclose(outcome.metrics["residual_rms"], expected, rtol=1e-12)


def test_without_a_true_curve_there_are_no_residuals() -> None:
    study = CurveData(data="olympics-100m-men", curve="unknown")
    outcome = study.run(generator(study.name, 0))
    assert "residual_rms" not in outcome.metrics
    with style("screen"):
        (figure,) = study.draw(outcome).values()
    assert [ax.get_ylabel() for ax in figure.axes] == ["time (s)"]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"n": 1}, "study.n=1"),
        ({"noise": -0.1}, "study.noise"),
        ({"low": 1.0, "high": 1.0}, "low < high"),
        ({"weights": []}, "study.weights.* is empty"),
        ({"curve": "unknown"}, "leaves nothing to draw from"),
        ({"design": "sobol"}, "study.design"),
        ({"repetitions": 0}, "study.repetitions"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        CurveData(**knobs)  # type: ignore[arg-type]
