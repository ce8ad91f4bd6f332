"""Filters against the exact one: knob rules, errors, and what happens where they are wrong."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.expressions import evaluate
from bythebook.experiments.core.outcome import Outcome, diff_outcomes
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.studies.state_space.filters import Filters
from bythebook.models.state_space import gaussian_sum, line_systems, particle_filter
from bythebook.models.state_space.gaussian_sum import Belief, gaussian_sum_filter, moments
from bythebook.models.state_space.kalman import LDS, autoregression, kalman_filter
from bythebook.models.state_space.line_systems import line_system, mixture_emission
from bythebook.models.state_space.nonlinear_filters import linear_system
from bythebook.models.state_space.particle_filter import ParticleFiltered, bootstrap_filter

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
MIXTURE = Filters(
    systems=["mixture"], noise_variance=2.0, steps=5, series=8, particles=[400, 4000], threshold=0.5
)


@pytest.fixture(scope="module")
def tails() -> Outcome:
    return TAILS.run(make_rng(0))


@pytest.fixture(scope="module")
def growth() -> Outcome:
    return GROWTH.run(make_rng(0))


@pytest.fixture(scope="module")
def mixture() -> Outcome:
    return MIXTURE.run(make_rng(0))


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
        ({"systems": ["mixture"]}, "25 makes 2\\^25 Gaussians"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        dataclasses.replace(TAILS, **knobs)  # type: ignore[arg-type]


def test_errors_say_what_is_known_of_tails(tails: Outcome) -> None:
    errors = tails["rmse_to_exact"]
    assert errors.sel(system="linear", filter="extended").item < 1e-9  # the grid is exact
    assert errors.sel(system="student", filter="extended").item > 0.05  # and not the Kalman filter
    assert evaluate("rmse['student', 'exact'] < rmse['student', 'extended']", tails)
    assert evaluate("particle_rmse['linear', 20] > 1.5 * particle_rmse['linear', 200]", tails)
    assert evaluate("all(modes == 1)", tails)


def test_in_a_linear_system_the_means_are_those_of_the_kalman_filter(tails: Outcome) -> None:
    z, y = line_system("linear", 0.9, 0.5, 0.5).simulate(25, make_rng(0), 6)
    one = np.eye(1)
    theta = LDS(0.9 * one, 0.5 * one, one, 0.5 * one, np.zeros(1), 0.5 / 0.19 * one)
    mean, cov = kalman_filter(theta, y).filtered
    for name in ("exact", "extended", "unscented", "collapsed"):
        found, spread = tails["belief_mean"].sel(filter=name), tails["belief_variance"]
        assert_allclose(found.values, mean[0, :, 0], rtol=0, atol=1e-12)
        assert_allclose(spread.sel(filter=name).values, cov[:, 0, 0], rtol=1e-9)
    rmse = np.sqrt(np.mean((mean - z) ** 2))
    assert_allclose(tails["rmse"].sel(system="linear").values[:4], rmse, rtol=1e-9)
    assert_allclose(tails["exact_sd"].sel(system="linear").item ** 2, cov.mean(), rtol=1e-9)


def test_errors_say_what_is_known_of_growth(growth: Outcome) -> None:
    assert evaluate("mean(nats_from_gaussian['growth']) > 0.1", growth)
    assert evaluate("max(modes['growth']) == 2 and max(modes['linear']) == 1", growth)
    assert evaluate("max(abs(nats_from_gaussian['linear'])) < 1e-9", growth)
    assert evaluate("falls(particle_rmse['growth'])", growth)
    assert evaluate("rmse['growth', 'exact'] < rmse['growth', 'no data']", growth)
    assert evaluate("particle_rmse['growth', 800] < rmse_to_exact['growth', 'unscented']", growth)


def test_where_nothing_is_nonlinear_tangents_and_points_are_exact(
    monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.setattr(
        line_systems, "growth_system", lambda q, r: linear_system(autoregression(0.7, q, r))
    )
    found = run(GROWTH)
    assert evaluate("max(abs(nats_from_gaussian)) < 1e-9 and all(modes == 1)", found)
    assert evaluate("max(rmse_to_exact['growth', 'extended':'unscented']) < 1e-9", found)
    assert evaluate("particle_rmse['growth', 800] > rmse_to_exact['growth', 'extended']", found)
    assert evaluate("rmse['growth', 'extended'] < rmse['growth', 'no data']", found)


def test_a_filter_that_forgets_the_data_is_found_out(
    monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    def blind(*args: object, **options: object) -> ParticleFiltered:
        model = args[0]._replace(log_weight=lambda n, z: 0 * z[..., 0])  # type: ignore[attr-defined]
        return bootstrap_filter(model, *args[1:], **options)  # type: ignore[arg-type]

    monkeypatch.setattr(particle_filter, "bootstrap_filter", blind)
    found = run(TAILS)
    assert evaluate("particle_rmse['linear', 200] / exact_sd['linear'] > 0.5", found)
    assert evaluate("particle_rmse['student', 200] > rmse_to_exact['student', 'extended']", found)


def test_one_step_of_one_filter_is_shown(tails: Outcome) -> None:
    """The mixture is a density about the particles before; those after are weighted draws of it."""
    density, mixture = tails["density"], tails["mixture"].values
    points = density.coord("z")
    step = points[1] - points[0]
    assert_allclose(mixture.sum() * step, 1, rtol=1e-9)
    (z, after), (w, new) = tails["particle_state"].values, tails["particle_weight"].values
    assert_allclose(mixture @ points * step, TAILS.a * w @ z, rtol=1e-9)
    likelihood = np.interp(after, points, tails["likelihood"].values)
    assert_allclose(new, likelihood / likelihood.sum(), rtol=1e-2)
    assert_allclose(density.values.sum(-1) * step, 1, rtol=1e-9)
    assert tails["shown_step"].item == 5


def test_the_least_gaussian_belief_is_shown(growth: Outcome) -> None:
    nats = growth["nats_from_gaussian"].sel(system="growth", series=0).values
    assert growth["shown_step"].item == nats[1:].argmax() + 1  # the one before it
    assert_allclose(growth["particle_weight"].values.sum(-1), 1, rtol=1e-12)


def test_mixtures_are_counted(mixture: Outcome) -> None:
    """Powers of the two Gaussians of the emission; a mixture for the first state does not grow."""
    models, counts = mixture["components"].coord("model"), mixture["components"].values.tolist()
    assert dict(zip(models, counts, strict=True)) == {
        "mixture_emission": [2, 4, 8, 16, 32],
        "gaussian_first": [1, 2, 4, 8, 16],
        "mixture_start": [3] * 5,
        "gaussian": [1] * 5,
    }
    sums, grid = mixture["sum_mean"].values, mixture["grid_mean"].values
    assert_allclose(sums, grid, rtol=0, atol=1e-9)


def test_a_belief_that_is_merged_on_the_way_is_found_out(
    monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    def merged(*args: object) -> gaussian_sum.GaussianSums:
        return gaussian_sum_filter(*args[:5], gaussian_sum.collapse)  # type: ignore[arg-type]

    monkeypatch.setattr(gaussian_sum, "gaussian_sum_filter", merged)
    outcome = run(MIXTURE)
    found = outcome["components"]
    off = outcome["sum_mean"].values - outcome["grid_mean"].values
    assert np.abs(off[1:]).min() > 1e-4
    assert found.sel(model="mixture_emission", step=2).item == 2
    assert found.sel(model="mixture_start").values.tolist() == [3, 1, 1, 1, 1]


def test_errors_under_a_mixture_are_those_to_the_sums_of_gaussians(mixture: Outcome) -> None:
    """The exact means, and those of beliefs that are collapsed, by another filter."""
    _, y = line_system("mixture", 0.9, 0.5, 2.0).simulate(5, make_rng(0), 8)
    A, Gamma, *_, mu0, V0 = autoregression(0.9, 0.5, 2.0)
    start = Belief(np.zeros(1), mu0[np.newaxis], V0[np.newaxis])

    def means(*reduce: Callable[[Belief], Belief]) -> list[list[float]]:
        passed = [
            gaussian_sum_filter(start, A, Gamma, mixture_emission(2.0), row, *reduce) for row in y
        ]
        return [[moments(belief).mean[0] for belief in part.filtered] for part in passed]

    exact, collapsed = np.array(means()), np.array(means(gaussian_sum.collapse))
    shown = mixture["rmse_to_exact"].sel(system="mixture")
    right = np.sqrt(np.mean((collapsed - exact) ** 2))
    assert_allclose(shown.sel(filter="collapsed").item, right, rtol=1e-6)
    kalman = kalman_filter(autoregression(0.9, 0.5, 2.0), y).filtered.mean[..., 0]
    right = np.sqrt(np.mean((kalman - exact) ** 2))
    assert_allclose(shown.sel(filter="extended").item, right, rtol=1e-6)
    assert evaluate("particle_rmse['mixture', 4000] < 0.05", mixture)
    assert evaluate(
        "particle_rmse['mixture', 4000] < rmse_to_exact['mixture', 'collapsed']"
        " < rmse_to_exact['mixture', 'extended'] / 2",
        mixture,
    )


def test_the_last_belief_of_a_mixture_is_shown(mixture: Outcome) -> None:
    z, exact = mixture["exact_density"].coord("z"), mixture["exact_density"].values
    assert_allclose(exact.sum() * (z[1] - z[0]), 1, rtol=0, atol=0.01)
    assert len(mixture["particle_state"]) == 400
    assert_allclose(mixture["particle_weight"].values.sum(), 1, rtol=1e-12)


def test_runs_repeat(run: Run) -> None:
    small = dataclasses.replace(TAILS, steps=8, systems=["student"])
    assert not diff_outcomes(run(small), run(small))
