"""Autocorrelation times against closed forms, and the study's rules."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.sampling.chain_efficiency import ChainEfficiency

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"targets": ["gauss 1"]}, "gauss 1; allowed"),
        ({"kernels": ["metro 1"]}, "metro 1; allowed"),
        ({"kernels": ["hamiltonian 0.5 8.7"]}, "a whole number of leapfrog steps"),
        ({"targets": ["bumps 2"]}, "gibbs needs conditional distributions, which bumps 2 has not"),
        ({"lags": [1000]}, "< 1000, the fewest steps"),
        ({"kernels": ["slice 1"], "lags": [100]}, "< 100, the fewest steps"),
        ({"steps": 100_000, "chains": 1000}, "<= 20000000"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        ChainEfficiency(**knobs)  # type: ignore[arg-type]


def test_gibbs_times_along_the_diagonals(run: Run) -> None:
    found = run(
        ChainEfficiency(
            ["correlated 0.8"], ["gibbs"], steps=800, chains=60, repetitions=4, lags=[1, 2]
        )
    )
    rho = 0.8
    along = found["autocorrelation"].sel(direction="long").values.mean((0, 1, 2))
    assert_allclose(along, [(rho + rho**2) / 2, (rho + rho**2) / 2 * rho**2], atol=0.02)
    across = found["autocorrelation"].sel(direction="short").values.mean((0, 1, 2))
    assert_allclose(across, [-(rho - rho**2) / 2, -(rho - rho**2) / 2 * rho**2], atol=0.02)
    assert_allclose(found["time"].sel(direction="long").values.mean(), 1 / (1 - rho), rtol=0.1)


def test_the_exact_flow_is_a_turn(run: Run) -> None:
    study = ChainEfficiency(["gaussian 1 2"], ["flow 1"], steps=400, chains=50, repetitions=4)
    found = run(study)
    assert_allclose(
        found["autocorrelation"].values.mean((0, 1, 2, 3)), [np.cos(1), np.cos(0.5)], atol=0.03
    )
    assert found["acceptance"].values.min() == 1


def test_effort_is_time_in_evaluations(run: Run) -> None:
    kernels = ["hamiltonian 0.5 4", "flow 3"]
    found = run(ChainEfficiency(["gaussian 1 4"], kernels, steps=800, chains=20, repetitions=2))
    time = found["time"].values
    assert time[0, 1, :, 0].max() < 1  # successive states are opposite
    expected = np.maximum(time, 1) * np.array([4, 1])[:, None, None]
    assert_allclose(found["effort"].values, expected)


def test_chains_from_far_off_arrive(run: Run) -> None:
    study = ChainEfficiency(
        ["correlated 0.5"], ["metropolis 1", "gibbs"], steps=200, chains=50, far_steps=200
    )
    found = run(study)
    assert found["early_far_p"].values[:, 0].max() < 1e-6
    assert np.median(found["late_far_p"].values, axis=-1).min() > 0.05


def test_kernels_of_all_families_stand_at_their_own_places(run: Run) -> None:
    names = ["hamiltonian 0.3 4", "metropolis 30", "slice 1", "metropolis 0.01", "flow 0.001"]
    found = run(ChainEfficiency(["gaussian 1 1"], names, steps=200, chains=20, repetitions=2))
    accepted = found["acceptance"].values.mean((0, 2))
    assert accepted[1] < 0.1 < 0.9 < min(accepted[[0, 2, 3, 4]])
    assert found["evaluations"].sel(kernel="hamiltonian 0.3 4").values == [4]
    moves = found["step_length"].values.mean((0, 2))
    assert moves[4] < moves[3] < 0.1 < moves[0]
