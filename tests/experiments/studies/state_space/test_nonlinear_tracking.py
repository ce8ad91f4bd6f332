"""Tracking by ranges: errors, the linear case, and the two misprinted equations."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome, differences
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies import nonlinear_tracking
from experiments.studies.state_space.nonlinear_tracking import FILTERS, NonlinearTracking
from models.state_space.kalman import LDS
from models.state_space.nonlinear_examples import walker_system
from models.state_space.nonlinear_filters import extended_filter, simulate

SMALL = NonlinearTracking(
    priors=[0.5, 4.0],
    distances=[10.0, 1.0],
    steps=10,
    series=150,
    particles=300,
    particle_series=20,
)


def run(study: NonlinearTracking) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return run(SMALL)


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
    with pytest.raises(BadInput, match=complaint):
        dataclasses.replace(SMALL, **knobs)  # type: ignore[arg-type]


def test_settings_stand_in_the_table_and_the_metrics(outcome: Outcome) -> None:
    table, found = outcome.tables["errors"], outcome.metrics
    assert table["distance"] == [10.0, 10.0, 1.0]
    assert table["prior"] == [0.5, 4.0, 0.5]
    for name in FILTERS:
        assert table[f"rmse_{name}"] == [
            found[f"rmse_{name}_{setting}"] for setting in ("mild", "broad", "near")
        ]
    for other in ("unscented", "iterated"):
        better = found[f"rmse_{other}_near"] < found["rmse_extended_near"]
        assert found[f"{other}_beats_extended_near"] is better


def test_errors_are_those_of_the_extended_filter() -> None:
    found = SMALL._tracked(10.0, 0.5, np.random.default_rng(3), with_particles=False)
    system = walker_system(10.0, 0.5, 0.5)
    z, y = simulate(system, 10, np.random.default_rng(3), (150,))
    mean, cov = extended_filter(system, y).filtered
    squares, ratios = [], []
    for s, n in np.ndindex(150, 10):
        e = mean[s, n, :2] - z[s, n, :2]
        squares.append(e @ e)
        ratios.append(e @ np.linalg.inv(cov[s, n, :2, :2]) @ e / 2)
    assert_allclose(found["rmse_extended"], np.sqrt(np.mean(squares)), rtol=1e-10)
    assert_allclose(found["squared_error_in_variances_extended"], np.mean(ratios), rtol=1e-10)
    assert "rmse_particles" not in found


def test_the_mild_setting_is_calibrated_and_the_hard_ones_are_not(outcome: Outcome) -> None:
    found = outcome.metrics
    assert 0.8 < found["squared_error_in_variances_extended_mild"] < 1.2
    assert found["squared_error_in_variances_extended_broad"] > 2
    assert found["squared_error_in_variances_extended_near"] > 1.2
    assert found["effective_particles_at_first_broad"] < found["effective_particles_at_first_near"]


def test_in_a_linear_system_all_are_the_kalman_filter(outcome: Outcome) -> None:
    for name in FILTERS:
        assert outcome.metrics[f"linear_difference_{name}"] < 1e-10


def test_a_filter_that_is_wrong_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    right = nonlinear_tracking.unscented_filter
    monkeypatch.setattr(
        nonlinear_tracking,
        "unscented_filter",
        lambda system, y, scaling: right(system._replace(Q=2 * system.Q), y, scaling),
    )
    found = SMALL._linear(np.random.default_rng(0))
    assert found["linear_difference_unscented"] > 1e-3
    assert found["linear_difference_extended"] < 1e-10


def test_the_misprints_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """One dimension: a belief of variance v under z -> a z + N(0, q), seen as c z + noise.

    As printed, the points a v^1/2 are paired with (a^2 v + q)^1/2: their covariance should be
    c (a^2 v + q) and comes out smaller by the ratio of the two, with the sign of a.
    """
    a, q, c, v = -0.8, 0.5, 2.0, 1.5
    one = np.eye(1)
    theta = LDS(a * one, q * one, c * one, 0.3 * one, np.zeros(1), v * one)
    monkeypatch.setattr(nonlinear_tracking, "_drawn_lds", lambda rng: theta)
    found = SMALL._as_printed(np.random.default_rng(0))
    ratio = a * np.sqrt(v) / np.sqrt(a**2 * v + q)
    assert_allclose(found["printed_cross_covariance_error"], 1 - ratio, rtol=1e-12)
    assert found["corrected_cross_covariance_error"] < 1e-14
    assert found["printed_tangent_error"] > 0.1
    assert found["corrected_tangent_error"] < 1e-13


def test_without_noise_and_turns_the_printed_covariance_is_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = np.eye(1)
    theta = LDS(0.8 * one, 0 * one, one, 0.3 * one, np.zeros(1), one)
    monkeypatch.setattr(nonlinear_tracking, "_drawn_lds", lambda rng: theta)
    found = SMALL._as_printed(np.random.default_rng(0))
    assert found["printed_cross_covariance_error"] < 1e-14


def test_the_figure_has_both_sides(outcome: Outcome) -> None:
    with style("print"):
        left, right = SMALL.draw(outcome)["errors"].axes
    assert left.get_xlabel() == "standard deviation of the prior"
    assert right.get_xlim()[0] > right.get_xlim()[1]  # the nearer the beacons, the harder


def test_runs_repeat() -> None:
    small = dataclasses.replace(SMALL, series=20, steps=4)
    assert not differences(run(small), run(small))
