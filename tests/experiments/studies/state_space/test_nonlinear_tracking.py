"""Tracking by ranges: errors of the filters and of the particles."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.expressions import evaluate
from bythebook.experiments.core.outcome import Outcome, diff_outcomes
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.studies.state_space.nonlinear_tracking import NonlinearTracking
from bythebook.models.state_space.nonlinear_examples import walker_system
from bythebook.models.state_space.nonlinear_filters import extended_filter, simulate

Run = Callable[..., Outcome]
SMALL = NonlinearTracking(
    priors=[0.5, 4.0],
    distances=[10.0, 1.0],
    steps=10,
    series=150,
    particles=300,
    particle_series=20,
)


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"priors": [4.0, 0.5]}, "ascending"),
        ({"distances": [1.0, 10.0]}, "descending"),
        ({"particle_series": 200}, "up to 150"),
        ({"linearisations": 1}, "study.linearisations"),
        ({"kappa": -4.0}, "study.kappa"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        dataclasses.replace(SMALL, **knobs)  # type: ignore[arg-type]


def test_settings_broaden_the_prior_and_then_bring_the_beacons_near(outcome: Outcome) -> None:
    assert SMALL.settings == {
        "prior 0.5": (10.0, 0.5, 1.0),
        "prior 4": (10.0, 4.0, 1.0),
        "distance 1": (1.0, 0.5, 0.1),
    }
    assert outcome["rmse"].coord("setting").tolist() == list(SMALL.settings)
    assert outcome["path_squared_error"].coord("hard_setting").tolist() == ["prior 4", "distance 1"]


def test_errors_are_those_of_the_extended_filter(outcome: Outcome) -> None:
    system = walker_system(10.0, 0.5, 0.5)
    z, y = simulate(system, 10, make_rng(0), (150,))
    mean, cov = extended_filter(system, y).filtered
    squares, ratios = [], []
    for s, n in np.ndindex(150, 10):
        e = mean[s, n, :2] - z[s, n, :2]
        squares.append(e @ e)
        ratios.append(e @ np.linalg.inv(cov[s, n, :2, :2]) @ e / 2)
    here = {"setting": "prior 0.5", "filter": "extended"}
    assert_allclose(outcome["rmse"].sel(**here).item, np.sqrt(np.mean(squares)), rtol=1e-10)
    worth = outcome["squared_error_in_variances"].sel(**here).item
    assert_allclose(worth, np.mean(ratios), rtol=1e-10)


def test_paths_are_those_of_the_same_walkers(run: Run) -> None:
    """With every walker sampled, the unscented filter's paths have its own r.m.s. error."""
    found = run(dataclasses.replace(SMALL, series=20))
    paths = found["path_squared_error"].sel(hard_setting="distance 1", method="unscented")
    rmse = found["rmse"].sel(setting="distance 1", filter="unscented").item
    assert_allclose(np.sqrt(paths.values.mean() / SMALL.steps), rmse, rtol=1e-12)


def test_the_mild_setting_is_calibrated_and_the_hard_ones_are_not(outcome: Outcome) -> None:
    assert evaluate("0.8 < squared_error_in_variances['prior 0.5', 'extended'] < 1.2", outcome)
    assert evaluate("squared_error_in_variances['prior 4', 'extended'] > 2", outcome)
    assert evaluate("squared_error_in_variances['distance 1', 'extended'] > 1.2", outcome)


def test_slow_walkers_stay_near_the_beacons(run: Run) -> None:
    small = dataclasses.replace(SMALL, series=20)
    near, far = run(small)["distance_from_start"], run(dataclasses.replace(small, near_speed=1.0))
    here = {"setting": "distance 1"}
    assert near.sel(**here).item < 1.5 < far["distance_from_start"].sel(**here).item


def test_runs_repeat(run: Run) -> None:
    small = dataclasses.replace(SMALL, series=20, steps=4)
    assert not diff_outcomes(run(small), run(small))
