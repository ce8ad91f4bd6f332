"""Least-squares fits against NumPy's own, lines by hand, where two meet by search, knob rules."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.registry import figures
from bythebook.experiments.studies.regression.linear_fit import LinearFit
from bythebook.models.datasets import load

Run = Callable[..., Outcome]
MEN, WOMEN = "olympics-100m-men", "olympics-100m-women"


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": "nowhere"}, "study.data=nowhere"),
        ({"model": "cubic"}, "study.model=cubic"),
        ({"b": 0.0}, "study.b"),
        ({"predict_at": [2012, 2012]}, "repeats an entry"),
        ({"generate_at": [1.0, 2.0]}, "more than 2"),
        ({"noise": -1.0}, "study.noise"),
        ({"other_data": WOMEN, "model": "line_and_sine"}, "allowed with study.other_data: line"),
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
    assert_allclose(found["errors"], errors, atol=1e-9)
    assert_allclose(found["noise_variance"].item, variance, rtol=1e-9)
    assert_allclose(found["prediction"].sel(input=2016).item, intercept + 2016 * slope, rtol=1e-9)
    # polyfit lists the highest power first
    assert_allclose(found["covariance"], variance * scaled[::-1, ::-1], rtol=1e-7)


def test_the_sine_against_lstsq(run: Run) -> None:
    found = run(LinearFit(model="line_and_sine"))
    x, t = load(MEN).xt
    Phi = np.column_stack([np.ones(27), (x - 1950) / 60, np.sin((x - 2660) / 4.3)])
    (c, slope, sine), loss, *_ = np.linalg.lstsq(Phi, t, rcond=None)
    assert_allclose(found["w"], [c - slope * 1950 / 60, slope / 60, sine], rtol=1e-9)
    assert_allclose((found["errors"].values ** 2).sum(), loss[0], rtol=1e-9)


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
    losses = [np.polyfit((x - 1950) / 50, t, k, full=True)[1][0] for k in (1, 2)]
    bend = stats.f.sf((losses[0] - losses[1]) / (losses[1] / 24), 1, 24)  # of nested models
    assert_allclose(found["p_value"].sel(check="bend").item, bend, rtol=1e-8)
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


def test_the_crossing_by_search(run: Run) -> None:
    study = LinearFit(other_data=WOMEN)
    found = run(study)
    men, women = (np.poly1d(np.polyfit(*load(name).xt, 1)) for name in (MEN, WOMEN))
    games = next(year for year in range(2008, 3000, 4) if women(year) < men(year))
    assert games - 4 < found["crossing"].item < games == 2592
    assert_allclose(found["crossing"].item, (men - women).roots[0], rtol=1e-9)
    assert_allclose(found["other_w"], women.c[::-1], rtol=1e-7)
    assert len(found["other_inputs"]) == 19
    (ax,) = figures(study, found, {"lines": []})["lines"].axes
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "olympics-100m-men",
        "olympics-100m-women",
        "the lines meet in 2589.3",
    ]


def test_a_figure_begins_at_an_input(run: Run) -> None:
    study = LinearFit(predict_at=[2012, 2016])
    (ax,) = figures(study, run(study), {"fit": [1980]})["fit"].axes
    assert ax.get_ylabel() == "Winning time (s)"
    assert ax.get_xlim()[0] == 1980
