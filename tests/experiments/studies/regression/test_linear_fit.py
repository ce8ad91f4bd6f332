"""The study of one least-squares fit: knob rules, and the outcome against NumPy's own fit."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.drawing.registry import figures
from experiments.studies.regression.linear_fit import LinearFit
from models.datasets import load

Run = Callable[..., Outcome]
TOY = "fcml-toy-regression"  # x = 1, 3, 5 and t = 4.8, 11.3, 17.2: FCML Table 1.1


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": "nowhere"}, "study.data=nowhere"),
        ({"model": "cubic"}, "study.model=cubic"),
        ({"b": 0.0}, "study.b"),
        ({"predict_at": [2012, 2012]}, "repeats an entry"),
        ({"data": TOY, "printed_products": [1.0]}, "1 cells; .* has 3 rows"),
        ({"data": TOY, "printed_squares": [1.0, 9.0]}, "2 cells; .* has 3 rows"),
        ({"show_from": 2008}, "shows no data"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        LinearFit(**knobs)  # type: ignore[arg-type]


@pytest.mark.parametrize("data", ["olympics-100m-men", "olympics-100m-women"])
def test_the_line_against_polyfit(data: str, run: Run) -> None:
    found = run(LinearFit(data=data, predict_at=[2012, 2016]))
    x, t = load(data).xt
    (slope, intercept), scaled = np.polyfit(x, t, 1, cov="unscaled")
    errors = t - intercept - slope * x
    variance = errors @ errors / len(t)
    assert_allclose(found["w"], [intercept, slope], rtol=1e-9)
    assert_allclose(found["w_by_averages"], [intercept, slope], rtol=1e-9)
    assert_allclose(found["errors"], errors, atol=1e-9)
    assert_allclose(found["noise_variance"].item, variance, rtol=1e-9)
    assert_allclose(found["prediction"].at(input=2016).item, intercept + 2016 * slope, rtol=1e-9)
    # polyfit lists the highest power first
    assert_allclose(found["covariance"], variance * scaled[::-1, ::-1], rtol=1e-7)
    likelihood = -len(t) / 2 * (1 + np.log(2 * np.pi * variance))
    assert_allclose(found["log_likelihood"].item, likelihood, rtol=1e-9)


def test_the_sine_against_lstsq(run: Run) -> None:
    found = run(LinearFit(model="line_and_sine"))
    x, t = load("olympics-100m-men").xt
    Phi = np.column_stack([np.ones(27), (x - 1950) / 60, np.sin((x - 2660) / 4.3)])
    (c, slope, sine), loss, *_ = np.linalg.lstsq(Phi, t, rcond=None)
    assert_allclose(found["w"], [c - slope * 1950 / 60, slope / 60, sine], rtol=1e-9)
    assert_allclose((found["errors"].values ** 2).sum(), loss[0], rtol=1e-9)
    assert "w_by_averages" not in found  # equation 1.10 is about a line


def test_printed_columns_stand_beside_the_points(run: Run) -> None:
    found = run(LinearFit(data=TOY, printed_products=[4.8, 33.8, 86.0]))
    wrong = np.abs(found["printed_products"] - found["inputs"].values * found["targets"].values)
    assert (wrong > 0.05).tolist() == [False, True, False]
    assert "printed_squares" not in found


def test_only_what_is_shown_is_drawn(run: Run) -> None:
    study = LinearFit(predict_at=[2012, 2016], show_from=1980)
    outcome = run(study)
    assert outcome["curve"].along("x")[[0, -1]].tolist() == [1980, 2016]
    (ax,) = figures(study, outcome)["fit"].axes
    assert ax.get_ylabel() == "Winning time (s)"
    assert len(ax.lines[1].get_xdata()) == 8  # only the games from 1980 on are drawn
