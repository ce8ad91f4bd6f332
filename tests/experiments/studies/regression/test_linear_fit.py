"""Least-squares fits against NumPy's own, lines by hand, where two meet by search, knob rules."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.registry import figures
from bythebook.experiments.studies.regression.linear_fit import SHOWN, LinearFit
from bythebook.models.datasets import load

Run = Callable[..., Outcome]
MEN, WOMEN = "olympics-100m-men", "olympics-100m-women"
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
        ({"show": "density", "predict_at": [1981.0]}, "an input of"),
        ({"show": "density", "predict_at": [1980.0], "noise": 0.0}, "needs noise"),
        ({"show": "generated"}, "needs study.repetitions"),
        ({"generate_at": [1.0, 2.0]}, "more than 2"),
        ({"noise": -1.0}, "study.noise"),
        ({"show": "lines"}, "needs study.other_data"),
        ({"other_data": WOMEN, "model": "line_and_sine"}, "allowed with study.other_data: line"),
        (
            {"data": None, "predict_at": [0.0], "show": "fit"},
            "without study.data: study.show=lines",
        ),
        ({"data": None, "show": "lines"}, "in study.predict_at their inputs"),
        ({"data": None, "gradients": [1.0]}, "allowed: 3 numbers"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        LinearFit(**knobs)  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [MEN, WOMEN])
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
    assert_allclose(found["prediction"].sel(input=2016).item, intercept + 2016 * slope, rtol=1e-9)
    # polyfit lists the highest power first
    assert_allclose(found["covariance"], variance * scaled[::-1, ::-1], rtol=1e-7)
    likelihood = -len(t) / 2 * (1 + np.log(2 * np.pi * variance))
    assert_allclose(found["log_likelihood"].item, likelihood, rtol=1e-9)


def test_the_sine_against_lstsq(run: Run) -> None:
    found = run(LinearFit(model="line_and_sine"))
    x, t = load(MEN).xt
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


def test_errors_and_densities_against_scipy(run: Run) -> None:
    found = run(LinearFit(predict_at=[1980.0], noise=0.05))
    x, t = load(MEN).xt
    slope, intercept = stats.linregress(x, t)[:2]
    errors = t - intercept - slope * x
    for check, expected in {
        "direction by ranks": stats.spearmanr(errors, x),
        "size by ranks": stats.spearmanr(np.abs(errors), x),
        "size by values": stats.pearsonr(np.abs(errors), x),
    }.items():
        assert_allclose(found["p_value"].sel(check=check).item, expected.pvalue, rtol=1e-8)
    density = stats.norm(intercept + slope * x, np.sqrt(0.05)).pdf(t)
    assert_allclose(found["likelihood"], density, rtol=1e-9)
    curve = found["density"]
    at_1980 = stats.norm(intercept + slope * 1980, np.sqrt(0.05))
    assert_allclose(curve, at_1980.pdf(curve.coord("target")), rtol=1e-9)


def test_generated_data_are_refitted(run: Run) -> None:
    study = LinearFit(generate_at=[0.0, 1.0, 2.0, 5.0], repetitions=400, noise=0.3)
    outcome = run(study)
    loss = np.polyfit(study.generate_at, outcome["generated"].values, 1, full=True)[1][0]
    again = outcome["generated_noise_variance"].values
    assert_allclose(again[0], loss / 4, rtol=1e-9)
    assert stats.kstest(again * 4 / 0.3, stats.chi2(2).cdf).pvalue > 1e-3


def test_without_noise_the_curve_comes_back(run: Run) -> None:
    found = run(LinearFit(model="line_and_sine", noise=0.0, repetitions=1))
    assert_allclose(found["generated"], found["fitted"], rtol=0, atol=0)
    assert found["generated_noise_variance"].values[0] < 1e-20
    assert "likelihood" not in found


def test_lines_by_hand(run: Run) -> None:
    study = LinearFit(
        data=None, intercepts=[1.0, -2.0], gradients=[0.5, 3.0], predict_at=[-1, 0, 2], show="lines"
    )
    outcome = run(study)
    assert_allclose(outcome["prediction"], [[0.5, 1, 2], [-5, -2, 4]])
    (ax,) = figures(study, outcome)["lines"].axes
    assert len(ax.lines) == 2


def test_the_crossing_by_search(run: Run) -> None:
    study = LinearFit(other_data=WOMEN, show="lines")
    found = run(study)
    men, women = (np.poly1d(np.polyfit(*load(name).xt, 1)) for name in (MEN, WOMEN))
    games = next(year for year in range(2008, 3000, 4) if women(year) < men(year))
    assert games - 4 < found["crossing"].item < games == 2592
    assert_allclose(found["crossing"].item, (men - women).roots[0], rtol=1e-9)
    assert_allclose(found["other_w"], women.c[::-1], rtol=1e-7)
    assert len(found["other_inputs"]) == 19
    (ax,) = figures(study, found)["lines"].axes
    # The men's line, the flatter one, is drawn until it reaches zero.
    assert_allclose(ax.lines[0].get_xdata()[-1], men.roots[0], rtol=1e-9)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "Olympics 100m men",
        "Olympics 100m women",
        "the lines meet in 2589.3",
    ]


@pytest.mark.parametrize("show", SHOWN)
def test_each_figure_is_drawn(show: str, run: Run) -> None:
    study = LinearFit(show=show, predict_at=[1980.0], repetitions=20, other_data=WOMEN)
    assert list(figures(study, run(study))) == [show]


def test_only_what_is_shown_is_drawn(run: Run) -> None:
    study = LinearFit(predict_at=[2012, 2016], show_from=1980)
    outcome = run(study)
    assert outcome["curve"].coord("x")[[0, -1]].tolist() == [1980, 2016]
    (ax,) = figures(study, outcome)["fit"].axes
    assert ax.get_ylabel() == "Winning time (s)"
    assert len(ax.lines[1].get_xdata()) == 8  # only the games from 1980 on are drawn
