"""EM for the state space model: recorded log likelihoods against the Kalman filter."""

import dataclasses
from collections.abc import Callable

import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.expressions import evaluate
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.studies.state_space.state_space_em import StateSpaceEm
from bythebook.models.state_space.kalman import LDS, kalman_filter, simulate
from bythebook.models.state_space.lds_em import random_start, subspace_start

SMALL = StateSpaceEm(steps=60, repetitions=2, random_starts=3, iterations=12)


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"lags": 7}, "at most a tenth"),
        ({"outputs": 1}, "study.outputs"),
        ({"radius": 1.1}, "study.radius"),
        ({"noise": 0.0}, "study.noise"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        dataclasses.replace(SMALL, **knobs)  # type: ignore[arg-type]


def test_the_starts_have_the_likelihood_of_the_filter(outcome: Outcome) -> None:
    """The gap between two starts is a difference of log likelihoods, for any best end."""
    rng = make_rng(0)
    C = rng.standard_normal((5, 2))
    system = SMALL.system(make_rng(0))
    assert_allclose(system.C, C, rtol=0)
    x = simulate(system, 60, rng)[1]
    chance = kalman_filter(random_start(x, 2, 3, rng), x).log_likelihood
    subspace = kalman_filter(subspace_start(x, 2, 3), x).log_likelihood
    gap = outcome["gap"].sel(series=1).values
    assert gap.shape == (5, 13)
    assert_allclose(gap[0, 0] - gap[:3, 0], chance - chance[0], rtol=0, atol=1e-8)
    assert_allclose(gap[0, 0] - gap[4, 0], subspace[0] - chance[0], rtol=0, atol=1e-8)
    truth = kalman_filter(system, x).log_likelihood
    below = outcome["gap_of_truth"].sel(series=1).item
    assert_allclose(gap[0, 0] - below, truth - chance[0], rtol=0, atol=1e-8)


def test_gaps_fall_to_the_best_end(outcome: Outcome) -> None:
    starts = ["random 1", "random 2", "random 3", "identity", "subspace"]
    assert outcome["gap"].coord("start").tolist() == starts
    best = outcome["gap"].values.min(axis=(1, 2))
    assert best.tolist() == [0, 0]  # in every series
    assert evaluate("all(never_rises(gap, over='iteration'))", outcome)
    assert evaluate(
        "all(gap[:, 'subspace', 0] < min(gap[:, :'identity', 0], over='start'))", outcome
    )


def test_without_noise_the_outputs_span_two_dimensions(
    outcome: Outcome, run: Callable[..., Outcome]
) -> None:
    assert outcome["singular_value_ratio"].values.max() < 1e-8
    # A weak radius kills the second direction, not the subspace: still two singular values.
    weak = run(dataclasses.replace(SMALL, radius=0.5, repetitions=1, iterations=2))
    assert weak["singular_value_ratio"].values.max() < 1e-8


def test_noise_fills_all_dimensions() -> None:
    """Were the noise left on, the ratio and the eigenvalue would show it."""
    rng, system = make_rng(0), SMALL.system(make_rng(0))
    loud = type("Loud", (LDS,), {"_replace": lambda self, **_: self})(*system)
    ratio, modulus, angle = SMALL._without_noise(loud, rng)
    assert ratio > 1e-2
    assert abs(modulus - 0.98) + abs(angle - 0.3) > 1e-3


def test_eigenvalues_come_out_without_noise(outcome: Outcome) -> None:
    assert_allclose(outcome["noiseless_modulus"].values, 0.98, atol=1e-6)
    assert_allclose(outcome["noiseless_angle"].values, 0.3, atol=1e-6)
