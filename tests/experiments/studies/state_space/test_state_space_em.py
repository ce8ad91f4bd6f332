"""EM for the state space model: the record of the climb against the Kalman filter."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.state_space.state_space_em import StateSpaceEm
from models.state_space.kalman import kalman_filter, simulate
from models.state_space.lds_em import random_start, subspace_start

SMALL = StateSpaceEm(steps=60, repetitions=2, random_starts=3, iterations=12)


def run(study: StateSpaceEm) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return run(SMALL)


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
    with pytest.raises(BadInput, match=complaint):
        dataclasses.replace(SMALL, **knobs)  # type: ignore[arg-type]


def test_the_starts_have_the_likelihood_of_the_filter(outcome: Outcome) -> None:
    """The gap between two starts is a difference of log likelihoods, whatever the best end is."""
    rng = generator(SMALL.name, 0)
    C = rng.standard_normal((5, 2))
    system = SMALL._system(generator(SMALL.name, 0))
    assert_allclose(system.C, C, rtol=0)
    x = simulate(system, 60, rng)[1]
    chance = kalman_filter(random_start(x, 2, 3, rng), x).log_likelihood
    subspace = kalman_filter(subspace_start(x, 2, 3), x).log_likelihood
    gap = outcome.arrays["gap"][0]
    assert gap.shape == (5, 13)
    assert_allclose(gap[0, 0] - gap[:3, 0], chance - chance[0], rtol=0, atol=1e-8)
    assert_allclose(gap[0, 0] - gap[4, 0], subspace[0] - chance[0], rtol=0, atol=1e-8)


def test_the_metrics_are_those_of_the_gaps(outcome: Outcome) -> None:
    gap, found = outcome.arrays["gap"], outcome.metrics
    assert gap.min() == 0
    assert_allclose(found["random_gap_at_start"], np.median(gap[:, :3, 0]), rtol=1e-12)
    assert_allclose(found["subspace_gap_at_end"], np.median(gap[:, 4, -1]), rtol=1e-12)
    assert_allclose(found["identity_gap_at_early"], np.median(gap[:, 3, 10]), rtol=1e-12)
    spread = gap[:, :, -1].max(1) - gap[:, :, -1].min(1)
    assert_allclose(found["largest_spread_of_ends"], spread.max(), rtol=1e-12)
    assert_allclose(outcome.tables["gaps"]["identity"], np.median(gap[:, 3], axis=0), rtol=1e-12)
    assert found["likelihood_never_falls"] is bool(np.all(np.diff(gap) <= 0))
    assert found["subspace_starts_highest"] is True
    wins = gap[:, 4, -1] <= gap[:, :4, -1].min(1)
    assert found["share_subspace_ends_highest"] == wins.mean()


def test_a_subspace_start_that_is_no_good_is_seen() -> None:
    gap = np.zeros((1, 5, 13))
    gap[0, 4] = np.linspace(9, 1, 13)  # the subspace start, behind all others
    found = SMALL._metrics(gap)
    assert found["subspace_starts_highest"] is False
    assert found["subspace_leads_early"] is False
    assert found["largest_subspace_gap_at_end"] == 1.0
    assert found["share_subspace_ends_highest"] == 0.0


def test_without_noise_the_outputs_span_two_dimensions(outcome: Outcome) -> None:
    assert outcome.metrics["outputs_lie_in_subspace_without_noise"] is True
    # A weak radius kills the second direction, not the subspace: still two singular values.
    weak = run(dataclasses.replace(SMALL, radius=0.5, repetitions=1, iterations=2)).metrics
    assert weak["outputs_lie_in_subspace_without_noise"] is True


def test_the_figure_shows_every_start(outcome: Outcome) -> None:
    axes = SMALL.draw(outcome)["climb"].axes
    assert [ax.get_title() for ax in axes] == ["series 1", "series 2"]
    drawn = [line for line in axes[0].lines if np.size(line.get_xdata()) == 13]
    assert len(drawn) == 5
