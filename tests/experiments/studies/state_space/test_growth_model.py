"""Filters of the growth model: knob rules, and metrics that see what is wrong."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome, differences
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies import growth_model
from experiments.studies.state_space.growth_model import GrowthModel
from models.probability.gaussian import log_density_1d
from models.state_space.grid_filter import GridFiltered
from models.state_space.kalman import LDS
from models.state_space.nonlinear_filters import NonlinearSystem, linear_system

SMALL = GrowthModel(steps=12, series=8, particles=[50, 800], grid=401)


def run(study: GrowthModel) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return run(SMALL)


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"particles": [800, 50]}, "ascending"),
        ({"particles": [50]}, "two or more"),
        ({"grid": 50}, "study.grid"),
        ({"state_variance": 0.0}, "study.state_variance"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        dataclasses.replace(SMALL, **knobs)  # type: ignore[arg-type]


def test_beliefs_by_hand() -> None:
    """A Gaussian is no nats from itself and has one mode; two far apart are ln 2 below their own.

    Of two unit Gaussians at -m and m the entropy is that of one plus ln 2, and the variance
    1 + m^2: the divergence is ln(1 + m^2) / 2 - ln 2.
    """
    points, m = np.linspace(-30, 30, 2001), 10.0
    one = np.exp(log_density_1d(points, 1.0, 2.0))
    two = (np.exp(log_density_1d(points, -m, 1.0)) + np.exp(log_density_1d(points, m, 1.0))) / 2
    small = 0.95 * np.exp(log_density_1d(points, -m, 1.0))
    small += 0.05 * np.exp(log_density_1d(points, m, 1.0))  # its peak is below a tenth
    beliefs = GridFiltered(points, np.stack([one, two, small]), np.zeros(3))
    assert growth_model._modes(beliefs).tolist() == [1, 2, 1]
    nats = growth_model._nats_from_gaussian(beliefs)
    assert_allclose(nats[:2], [0, 0.5 * np.log(1 + m**2) - np.log(2)], rtol=0, atol=1e-9)


def test_the_metrics_say_what_is_known_of_the_model(outcome: Outcome) -> None:
    found = outcome.metrics
    assert found["mean_nats_from_gaussian"] > 0.1
    assert found["linear_nats_from_gaussian"] < 1e-9
    assert found["linear_most_modes"] == 1
    assert found["rmse_to_exact_particles_800"] < found["rmse_to_exact_particles_50"]
    assert found["rmse_exact"] < found["rmse_without_data"]
    assert found["particles_nearest_to_exact"] is True
    assert found["nats_lost_a_datum_extended"] > 0
    rate = np.log(found["median_error_particles_800"] / found["median_error_particles_50"])
    assert_allclose(found["particle_error_rate"], rate / np.log(16), rtol=1e-10)
    errors = outcome.tables["errors"]
    assert errors["filter"][-3:] == ["extended", "unscented", "no data"]
    assert errors["rmse_to_exact"][-2] == found["rmse_to_exact_unscented"]


def test_in_a_linear_model_the_same_metrics_find_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """There tangents and sigma points are exact, and the statements about them fail."""

    def linear(state_variance: float, noise_variance: float) -> NonlinearSystem:
        one = np.eye(1)
        noises = state_variance * one, noise_variance * one
        return linear_system(LDS(0.7 * one, noises[0], one, noises[1], np.zeros(1), 5 * one))

    monkeypatch.setattr(growth_model, "growth_system", linear)
    found = run(SMALL).metrics
    assert found["mean_nats_from_gaussian"] < 1e-9
    assert found["share_of_beliefs_with_two_modes"] == 0
    assert found["rmse_to_exact_extended"] < 1e-9
    assert found["rmse_to_exact_unscented"] < 1e-9
    assert abs(found["nats_lost_a_datum_unscented"]) < 1e-9
    for name in ("particles_nearest_to_exact", "extended_loses_to_no_data"):
        assert found[name] is False


def test_figures_are_drawn_from_the_outcome(outcome: Outcome) -> None:
    n = int(outcome.arrays["shown_step"])
    assert 1 <= n < SMALL.steps
    assert_allclose(outcome.arrays["particles"][1].sum(), 1, rtol=1e-12)
    with style("print"):
        figures = SMALL.draw(outcome)
    assert list(figures) == ["beliefs", "errors"]
    assert figures["beliefs"].axes[1].get_xlabel() == f"state $z_{{{n + 1}}}$"


def test_runs_repeat() -> None:
    small = dataclasses.replace(SMALL, steps=4)
    assert not differences(run(small), run(small))
