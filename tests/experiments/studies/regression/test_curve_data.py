"""The shared generator, and the study of its data."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.figures.regression.curve_data import draw
from experiments.studies.regression.curve_data import CurveData

Run = Callable[..., Outcome]


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


def test_share_within_one_standard_deviation_is_the_normal_one(run: Run) -> None:
    found = run(CurveData(n=100, design="uniform", repetitions=400))
    p = norm.cdf(1) - norm.cdf(-1)
    standard_error = np.sqrt(p * (1 - p) / 40_000)
    share = np.mean(np.abs(found["residual"]) <= 0.3)
    assert_allclose(share, p, rtol=0, atol=4 * standard_error)
    assert found["inputs"].values.min() >= 0
    assert found["inputs"].values.max() <= 1


def test_an_embedded_data_set_takes_the_place_of_draws(run: Run) -> None:
    found = run(CurveData(data="curve-fitting"))
    assert found["targets"].values.shape == (1, 10)
    assert found["targets"].values[0, 0] == 0.349486
    expected = found["targets"].values - np.sin(2 * np.pi * found["inputs"].values)
    assert_allclose(found["residual"], expected, rtol=1e-12)


def test_without_a_true_curve_there_are_no_residuals(run: Run) -> None:
    study = CurveData(data="olympics-100m-men", curve="unknown")
    found = run(study)
    assert "residual" not in found
    with style("screen"):
        ((_, figure),) = draw(study, found)
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
