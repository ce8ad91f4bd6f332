"""The study of predictive variance against np.polyfit, and its rules."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.plotting.registry import figures
from bythebook.experiments.studies.regression.predictive_variance import PredictiveVariance
from bythebook.models.datasets import load

Run = Callable[..., Outcome]
STUDY = PredictiveVariance(
    curve="polynomial",
    weights=[0.0, 1.0, -1.0, 5.0],
    n=100,
    noise=31.6227766,
    design="uniform",
    low=-5.0,
    high=5.0,
    orders=[1, 3, 6],
    gap=[0.0, 2.0],
    repetitions=20,
)


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"low": 6.0}, "low < high"),
        ({"gap": [2.0, 0.0]}, "study.gap"),
        ({"n": 12, "orders": [6]}, "half the points"),
        ({"curve": "unknown"}, "leaves nothing to draw from"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        dataclasses.replace(STUDY, **knobs)  # type: ignore[arg-type]


def test_variances_by_a_loop_over_data_sets(run: Run) -> None:
    found = run(STUDY)
    x, t = STUDY.sets(make_rng(0), 20)
    grid = np.linspace(-5, 5, 101)
    Z, inside = np.vander(grid, 4), (grid >= 0) & (grid <= 2)
    for k, (inputs, targets) in enumerate(zip(x, t, strict=True)):
        for points, keep in (
            ("all", inputs > -np.inf),
            ("kept", (inputs < 0) | (inputs > 2)),
        ):
            w, cov = np.polyfit(inputs[keep], targets[keep], 3, cov="unscaled")
            sigma2 = np.mean((targets[keep] - np.polyval(w, inputs[keep])) ** 2)
            variance = sigma2 * np.einsum("gi,ij,gj->g", Z, cov, Z)
            in_gap = found["gap_variance"].sel(points=points, repetition=k, order=3)
            assert_allclose(in_gap.item, variance[inside].mean(), rtol=1e-7)
        assert_allclose(found["variance"].sel(repetition=k, order=3), variance, rtol=1e-7)
        assert_allclose(found["noise_variance"].sel(repetition=k, order=3).item, sigma2, rtol=1e-7)


def test_ten_lines_of_the_olympics(run: Run) -> None:
    study = PredictiveVariance(data="olympics-100m-men", curve="unknown", orders=[1], functions=10)
    outcome = run(study)
    x, t = load("olympics-100m-men").xt
    cov = np.polyfit(x - 1950, t, 1, cov="unscaled")[1]
    sigma2 = np.mean((t - np.polyval(np.polyfit(x - 1950, t, 1), x - 1950)) ** 2)
    to_zero = np.array([-1950.0, 1.0])  # the intercept from slope and value at 1950
    sd = np.sqrt(sigma2 * to_zero @ cov @ to_zero)
    # Ten normal draws range over 3.078 standard deviations on average.
    assert_allclose(outcome["intercept_range"].values.mean(), 3.078 * sd, rtol=0.08)
    slope_sd = np.sqrt(sigma2 * cov[0, 0])
    assert_allclose(outcome["slope_range"].values.mean(), 3.078 * slope_sd, rtol=0.08)
    assert "truth" not in outcome
    figure = figures(study, outcome, {"functions": []})["functions"]
    assert figure.axes[0].get_xlabel() == "Year"


def test_the_excess_at_the_edges(run: Run) -> None:
    found = run(STUDY)
    v = found["variance"].sel(repetition=2, order=6).values
    expected = min(v[0] - max(v[1:51]), v[100] - max(v[50:100]))
    assert_allclose(found["edge_excess"].sel(repetition=2, order=6).item, expected, rtol=1e-12)


def test_both_figures_are_drawn(run: Run) -> None:
    drawn = figures(STUDY, run(STUDY), {"bars": [], "functions": [-1, 3]})
    assert [len(drawn[name].axes) for name in ("bars", "functions")] == [3, 3]
    assert drawn["functions"].axes[0].get_xlim() == (-1, 3)
