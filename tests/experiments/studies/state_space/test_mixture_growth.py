"""How mixtures grow: counts by powers, and the approximations against the exact belief."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome, differences
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies import mixture_growth
from experiments.studies.state_space.mixture_growth import MixtureGrowth
from models.state_space import gaussian_sum

SMALL = MixtureGrowth(steps=5, series=4, particles=400)
STATEMENTS = (
    "first_has_k",
    "second_has_k_squared",
    "grows_as_power_of_k",
    "one_step_later_after_gaussian",
    "mixture_start_keeps_its_number",
    "gaussian_stays_one",
)


def run(study: MixtureGrowth) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"weights": [0.5, 0.6]}, "a sum of 1"),
        ({"variances": [1.0]}, "one for each weight"),
        ({"weights": [1.0], "variances": [1.0]}, "two or more"),
        ({"steps": 30}, "components"),
        ({"particles": 1}, "study.particles"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        dataclasses.replace(SMALL, **knobs)  # type: ignore[arg-type]


@pytest.mark.parametrize("K", [2, 3])
def test_counts_are_powers(K: int) -> None:
    study = dataclasses.replace(
        SMALL, weights=[1 / K] * K, variances=[0.2, 2.0, 9.0][:K], start_means=[-1.0, 1.0]
    )
    outcome = run(study)
    assert all(outcome.metrics[name] is True for name in STATEMENTS)
    table = outcome.tables["components"]
    assert table["mixture_emission"] == [K, K**2, K**3, K**4, K**5]
    assert table["gaussian_first"] == [1, K, K**2, K**3, K**4]
    assert table["mixture_start"] == [2] * 5


def test_components_that_coincide_are_no_growth() -> None:
    """Two equal components of the emission are one: the statements can fail."""
    found = run(dataclasses.replace(SMALL, variances=[1.0, 1.0])).metrics
    assert found["grows_as_power_of_k"] is False
    assert found["first_has_k"] is False
    assert found["gaussian_stays_one"] is True


def test_equal_starts_are_one() -> None:
    outcome = run(dataclasses.replace(SMALL, start_means=[1.0, 1.0, 2.0]))
    assert outcome.tables["components"]["mixture_start"] == [2] * 5


def test_a_belief_that_is_merged_on_the_way_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = gaussian_sum.gaussian_sum_filter

    def merged(*args: object) -> gaussian_sum.GaussianSums:
        return exact(*args[:5], gaussian_sum.collapse)  # type: ignore[arg-type]

    monkeypatch.setattr(mixture_growth, "gaussian_sum_filter", merged)
    found = run(SMALL).metrics
    assert found["second_has_k_squared"] is False
    assert found["mixture_start_keeps_its_number"] is False


def test_approximations_are_held_against_the_exact_means() -> None:
    outcome = run(dataclasses.replace(SMALL, series=8, particles=4000))
    found = outcome.metrics
    assert found["rmse_to_exact_particles"] < 0.05
    assert found["rmse_to_exact_particles"] < found["rmse_to_exact_collapsed"]
    assert found["rmse_to_exact_collapsed"] < found["rmse_to_exact_kalman"]
    assert found["particles_beat_kalman"] is True
    assert found["collapsed_beats_kalman"] is True
    z, exact = outcome.arrays["z"], outcome.arrays["exact"]
    assert_allclose(exact.sum() * (z[1] - z[0]), 1, rtol=0, atol=0.01)
    with style("print"):
        assert list(SMALL.draw(outcome)) == ["growth"]


def test_the_particles_see_the_density_of_the_mixture() -> None:
    x, z = np.array([[[0.5], [-2.0]]]), np.array([[[0.0], [1.0], [4.0]]])
    found = SMALL._state_space(x).log_weight(1, z)
    e = -2.0 - z[0, :, 0]
    right = sum(
        w / np.sqrt(2 * np.pi * v) * np.exp(-0.5 * e**2 / v) for w, v in ((0.8, 0.25), (0.2, 9.0))
    )
    assert_allclose(found, np.log(right)[np.newaxis], rtol=1e-12)


def test_runs_repeat() -> None:
    assert not differences(run(SMALL), run(SMALL))
