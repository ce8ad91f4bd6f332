"""How mixtures grow: counts by powers, and the approximations against the exact belief."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome, differences
from experiments.studies.state_space import mixture_growth
from experiments.studies.state_space.mixture_growth import MixtureGrowth
from models.state_space import gaussian_sum
from models.state_space.kalman import autoregression

Run = Callable[..., Outcome]
SMALL = MixtureGrowth(steps=5, series=4, particles=400)


def counts(outcome: Outcome, model: str) -> list[int]:
    found: list[int] = outcome["components"].at(model=model).values.tolist()
    return found


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
def test_counts_are_powers(K: int, run: Run) -> None:
    study = dataclasses.replace(
        SMALL, weights=[1 / K] * K, variances=[0.2, 2.0, 9.0][:K], start_means=[-1.0, 1.0]
    )
    outcome = run(study)
    assert counts(outcome, "mixture_emission") == [K, K**2, K**3, K**4, K**5]
    assert counts(outcome, "gaussian_first") == [1, K, K**2, K**3, K**4]
    assert counts(outcome, "mixture_start") == [2] * 5
    assert counts(outcome, "gaussian") == [1] * 5
    assert outcome["components"].along("step").tolist() == [1, 2, 3, 4, 5]


def test_components_that_coincide_are_no_growth(run: Run) -> None:
    """Two equal components of the emission are one."""
    found = run(dataclasses.replace(SMALL, variances=[1.0, 1.0]))
    assert counts(found, "mixture_emission") == [1] * 5


def test_equal_starts_are_one(run: Run) -> None:
    outcome = run(dataclasses.replace(SMALL, start_means=[1.0, 1.0, 2.0]))
    assert counts(outcome, "mixture_start") == [2] * 5


def test_a_belief_that_is_merged_on_the_way_is_found_out(
    monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    exact = gaussian_sum.gaussian_sum_filter

    def merged(*args: object) -> gaussian_sum.GaussianSums:
        return exact(*args[:5], gaussian_sum.collapse)  # type: ignore[arg-type]

    monkeypatch.setattr(mixture_growth, "gaussian_sum_filter", merged)
    found = run(SMALL)
    assert counts(found, "mixture_emission")[1] == 2
    assert counts(found, "mixture_start") == [3, 1, 1, 1, 1]


def test_approximations_are_held_against_the_exact_means(run: Run) -> None:
    outcome = run(dataclasses.replace(SMALL, series=8, particles=4000))
    particles, collapsed, kalman = outcome["rmse_to_exact"].values
    assert particles < 0.05
    assert particles < collapsed < kalman / 2
    z, exact = outcome["exact_density"].along("z"), outcome["exact_density"].values
    assert_allclose(exact.sum() * (z[1] - z[0]), 1, rtol=0, atol=0.01)
    assert_allclose(outcome["particle_weight"].values.sum(), 1, rtol=1e-12)


def test_the_particles_see_the_density_of_the_mixture() -> None:
    x, z = np.array([[[0.5], [-2.0]]]), np.array([[[0.0], [1.0], [4.0]]])
    found = SMALL.model(autoregression(0.9, 0.5, 2.0), x).log_weight(1, z)
    e = -2.0 - z[0, :, 0]
    right = sum(
        w / np.sqrt(2 * np.pi * v) * np.exp(-0.5 * e**2 / v) for w, v in ((0.8, 0.25), (0.2, 9.0))
    )
    assert_allclose(found, np.log(right)[np.newaxis], rtol=1e-12)


def test_runs_repeat(run: Run) -> None:
    assert not differences(run(SMALL), run(SMALL))
