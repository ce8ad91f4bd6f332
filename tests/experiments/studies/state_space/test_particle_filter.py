"""Particles against the exact filter: knob rules, errors, and what happens where they are wrong."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t as student

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome, differences
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies import particle_filter
from experiments.studies.state_space.particle_filter import ParticleFilter
from models.state_space.particle_filter import ParticleFiltered, bootstrap_filter

SMALL = ParticleFilter(steps=25, series=6, particles=[20, 200], shown_step=5, shown_particles=8)


def run(study: ParticleFilter) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return run(SMALL)


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"shown_step": 25}, "below study.steps=25"),
        ({"particles": [200, 20]}, "ascending"),
        ({"particles": [20]}, "two or more"),
        ({"a": 1.0}, "study.a"),
        ({"emissions": ["cauchy"]}, "study.emissions"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        dataclasses.replace(SMALL, **knobs)  # type: ignore[arg-type]


def test_the_metrics_of_a_right_filter(outcome: Outcome) -> None:
    found = outcome.metrics
    assert found["weights_between_0_and_1"] is True
    assert found["weights_sum_error"] < 1e-12
    assert found["weights_are_likelihood_shares_error"] < 1e-9
    assert found["kalman_rmse_to_exact_gaussian"] < 1e-9  # the grid is exact
    assert found["kalman_rmse_to_exact_student"] > 0.05  # and not the Kalman filter's
    assert found["rmse_to_exact_gaussian_20"] > 1.5 * found["rmse_to_exact_gaussian_200"]
    assert found["exact_rmse_student"] < found["kalman_rmse_student"]
    assert outcome.tables["errors"]["particles"] == [20, 200, 20, 200]


def test_students_noise_has_the_density_and_the_variance_it_says() -> None:
    e = np.linspace(-4, 4, 9)
    scale = np.sqrt(SMALL.noise_variance / 3)
    assert_allclose(SMALL._log_density("student", e), student(3, scale=scale).logpdf(e), rtol=1e-12)
    assert_allclose(student(3, scale=scale).var(), SMALL.noise_variance, rtol=1e-12)
    wide = dataclasses.replace(SMALL, series=400)
    z, x = wide._data("student", np.random.default_rng(0))
    quartile = np.quantile(np.abs(x - z), 0.5)
    assert_allclose(quartile, student(3, scale=scale).ppf(0.75), rtol=0.05)


def test_a_filter_that_forgets_the_data_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def blind(*args: object, **options: object) -> ParticleFiltered:
        model = args[0]._replace(log_weight=lambda n, z: 0 * z[..., 0])  # type: ignore[attr-defined]
        return bootstrap_filter(model, *args[1:], **options)  # type: ignore[arg-type]

    monkeypatch.setattr(particle_filter, "bootstrap_filter", blind)
    found = run(SMALL).metrics
    assert found["largest_filter_error_in_sd_gaussian"] > 0.5
    assert found["weights_are_likelihood_shares_error"] > 0.1
    assert found["particles_beat_kalman_student"] is False


def test_the_figure_shows_one_step_of_one_filter(outcome: Outcome) -> None:
    """The mixture is a density about the particles before; those after are draws of it, weighed."""
    arrays = outcome.arrays
    points, mixture = arrays["points"], arrays["mixture"]
    step = points[1] - points[0]
    assert_allclose(mixture.sum() * step, 1, rtol=1e-9)
    z, w = arrays["particles_before"]
    assert_allclose(mixture @ points * step, SMALL.a * w @ z, rtol=1e-9)
    after, new = arrays["particles_after"]
    likelihood = np.interp(after, points, arrays["likelihood"])
    assert_allclose(new, likelihood / likelihood.sum(), rtol=1e-2)
    assert_allclose(arrays["posterior_after"].sum() * step, 1, rtol=1e-9)
    with style("print"):
        figures = SMALL.draw(outcome)
    assert list(figures) == ["step", "errors"]
    assert len(figures["step"].axes) == 4


def test_runs_repeat() -> None:
    small = dataclasses.replace(SMALL, steps=8, emissions=["student"])
    assert not differences(run(small), run(small))
