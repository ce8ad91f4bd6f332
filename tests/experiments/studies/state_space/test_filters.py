"""Filters against the exact one: knob rules, errors, and what happens where they are wrong."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t as student

from experiments.contract.errors import BadInput
from experiments.contract.expressions import evaluate
from experiments.contract.outcome import Outcome, differences
from experiments.contract.streams import generator
from experiments.studies.state_space import filters
from experiments.studies.state_space.filters import Filters
from models.state_space.kalman import LDS, autoregression, kalman_filter
from models.state_space.nonlinear_filters import linear_system
from models.state_space.particle_filter import ParticleFiltered, bootstrap_filter

Run = Callable[..., Outcome]
TAILS = Filters(steps=25, series=6, particles=[20, 200], shown_step=5, shown_particles=8)
GROWTH = Filters(
    systems=["growth", "linear"],
    a=0.5,
    state_variance=10.0,
    noise_variance=1.0,
    steps=12,
    series=8,
    particles=[50, 800],
    threshold=0.5,
    shown_particles=400,
)


@pytest.fixture(scope="module")
def tails() -> Outcome:
    return TAILS.run(generator(TAILS.name, 0))


@pytest.fixture(scope="module")
def growth() -> Outcome:
    return GROWTH.run(generator(GROWTH.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"shown_step": 25}, "below study.steps=25"),
        ({"particles": [200, 20]}, "ascending"),
        ({"particles": [20]}, "two or more"),
        ({"a": 1.0}, "study.a"),
        ({"systems": ["cauchy"]}, "study.systems"),
        ({"grid": 50}, "study.grid"),
        ({"state_variance": 0.0}, "study.state_variance"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        dataclasses.replace(TAILS, **knobs)  # type: ignore[arg-type]


def test_weights_of_a_right_filter(tails: Outcome) -> None:
    assert tails["least_weight"].values.min() >= 0
    assert tails["largest_weight"].values.max() <= 1
    assert tails["weight_sum_error"].values.max() < 1e-12
    assert tails["likelihood_share_error"].values.max() < 1e-9


def test_errors_say_what_is_known_of_tails(tails: Outcome) -> None:
    errors = tails["rmse_to_exact"]
    assert errors.at(system="linear", filter="extended").item < 1e-9  # the grid is exact
    assert errors.at(system="student", filter="extended").item > 0.05  # and not the Kalman filter
    assert evaluate("rmse['student', 'exact'] < rmse['student', 'extended']", tails)
    assert evaluate("particle_rmse['linear', 20] > 1.5 * particle_rmse['linear', 200]", tails)
    assert evaluate("all(modes == 1)", tails)


def test_in_a_linear_system_the_means_are_those_of_the_kalman_filter(tails: Outcome) -> None:
    rng = generator(TAILS.name, 0)
    z, y = TAILS.data("linear", rng)
    one = np.eye(1)
    theta = LDS(0.9 * one, 0.5 * one, one, 0.5 * one, np.zeros(1), 0.5 / 0.19 * one)
    mean, cov = kalman_filter(theta, y).filtered
    found = tails["gaussian_mean"].at(gaussian="extended").values
    assert_allclose(found, mean[0, :, 0], rtol=0, atol=1e-12)
    rmse = np.sqrt(np.mean((mean[..., 0] - z) ** 2))
    assert_allclose(tails["rmse"].at(system="linear").values[:3], rmse, rtol=1e-9)
    assert_allclose(tails["exact_sd"].at(system="linear").item ** 2, cov.mean(), rtol=1e-9)


def test_errors_say_what_is_known_of_growth(growth: Outcome) -> None:
    assert evaluate("mean(nats_from_gaussian['growth']) > 0.1", growth)
    assert evaluate("max(modes['growth']) == 2 and max(modes['linear']) == 1", growth)
    assert evaluate("max(abs(nats_from_gaussian['linear'])) < 1e-9", growth)
    assert evaluate("falls(particle_rmse['growth'])", growth)
    assert evaluate("rmse['growth', 'exact'] < rmse['growth', 'no data']", growth)
    assert evaluate("particle_rmse['growth', 800] < rmse_to_exact['growth', 'unscented']", growth)


@pytest.mark.parametrize("name", ["particle_rmse", "particle_median_error"])
def test_rates_are_slopes(growth: Outcome, name: str) -> None:
    few, many = growth[name].at(system="growth").values
    rate = growth[f"{name}_rate"].at(system="growth").item
    assert_allclose(rate, np.log(many / few) / np.log(16), rtol=1e-10)


def test_where_nothing_is_nonlinear_tangents_and_points_are_exact(
    monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.setattr(
        filters, "growth_system", lambda q, r: linear_system(autoregression(0.7, q, r))
    )
    found = run(GROWTH)
    assert evaluate("max(abs(nats_from_gaussian)) < 1e-9 and all(modes == 1)", found)
    assert evaluate("max(rmse_to_exact['growth', 'extended':'unscented']) < 1e-9", found)
    assert evaluate("particle_rmse['growth', 800] > rmse_to_exact['growth', 'extended']", found)
    assert evaluate("rmse['growth', 'extended'] < rmse['growth', 'no data']", found)


def test_students_noise_has_the_density_and_the_variance_it_says() -> None:
    e, scale = np.linspace(-4, 4, 9), np.sqrt(TAILS.noise_variance / 3)
    found = TAILS.model("student", np.zeros((1, 1, 1))).log_weight(0, -e[np.newaxis, :, np.newaxis])
    assert_allclose(found[0], student(3, scale=scale).logpdf(e), rtol=1e-12)
    assert_allclose(student(3, scale=scale).var(), TAILS.noise_variance, rtol=1e-12)
    wide = dataclasses.replace(TAILS, series=400)
    z, y = wide.data("student", np.random.default_rng(0))
    quartile = np.quantile(np.abs(y[..., 0] - z), 0.5)
    assert_allclose(quartile, student(3, scale=scale).ppf(0.75), rtol=0.05)


def test_a_filter_that_forgets_the_data_is_found_out(
    monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    def blind(*args: object, **options: object) -> ParticleFiltered:
        model = args[0]._replace(log_weight=lambda n, z: 0 * z[..., 0])  # type: ignore[attr-defined]
        return bootstrap_filter(model, *args[1:], **options)  # type: ignore[arg-type]

    monkeypatch.setattr(filters, "bootstrap_filter", blind)
    found = run(TAILS)
    assert evaluate("particle_rmse['linear', 200] / exact_sd['linear'] > 0.5", found)
    assert evaluate("max(likelihood_share_error) > 0.1", found)
    assert evaluate("particle_rmse['student', 200] > rmse_to_exact['student', 'extended']", found)


def test_one_step_of_one_filter_is_shown(tails: Outcome) -> None:
    """The mixture is a density about the particles before; those after are draws of it, weighed."""
    density, mixture = tails["density"], tails["mixture"].values
    points = density.along("z")
    step = points[1] - points[0]
    assert_allclose(mixture.sum() * step, 1, rtol=1e-9)
    (z, after), (w, new) = tails["particle_state"].values, tails["particle_weight"].values
    assert_allclose(mixture @ points * step, TAILS.a * w @ z, rtol=1e-9)
    likelihood = np.interp(after, points, tails["likelihood"].values)
    assert_allclose(new, likelihood / likelihood.sum(), rtol=1e-2)
    assert_allclose(density.values.sum(-1) * step, 1, rtol=1e-9)
    assert tails["shown_step"].item == 5


def test_the_least_gaussian_belief_is_shown(growth: Outcome) -> None:
    nats = growth["nats_from_gaussian"].at(system="growth", series=0).values
    assert growth["shown_step"].item == nats[1:].argmax() + 1  # the one before it
    assert_allclose(growth["particle_weight"].values.sum(-1), 1, rtol=1e-12)


def test_runs_repeat(run: Run) -> None:
    small = dataclasses.replace(TAILS, steps=8, systems=["student"])
    assert not differences(run(small), run(small))
