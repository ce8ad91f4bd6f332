"""Steps at which messages vanish, by hand and from the log evidence."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.outcome import diff_outcomes
from bythebook.experiments.studies.chains import hmm_underflow
from bythebook.experiments.studies.chains.hmm_underflow import HmmUnderflow
from bythebook.models.chains import hmm
from bythebook.models.types import Floats

Run = Callable[..., Any]


def test_messages_vanish_below_the_smallest_double(run: Run) -> None:
    outcome = run(HmmUnderflow(dimensions=[5], length=500, sequences=30))
    assert np.isfinite(outcome["underflow"].values).all()
    assert not outcome["lost"].values.any()
    for name in ("dice", "gaussian_5"):
        nats = outcome["log_evidence"].sel(emission=name).values
        passed = int(np.argmax(nats < math.log(5e-324)))
        assert abs(outcome["underflow"].sel(emission=name, sequence=0).item - passed) <= 3
    short = run(HmmUnderflow(length=100, sequences=5))
    assert np.all(short["underflow"].values == math.inf)


def test_a_chain_of_one_likelihood_vanishes_at_step_359(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1/8 a step: 2^(-3 T) is below the smallest double from T = 359."""
    even = (np.array([0.5, 0.5]), np.full((2, 2), 0.5)), np.full((2, 400, 2), np.log(1 / 8))
    monkeypatch.setattr(hmm_underflow.hmm_examples, "dice_and_gaussians", lambda *_: {"dice": even})
    outcome = run(HmmUnderflow(length=400, sequences=2))
    assert np.abs(outcome["underflow"].values - 359).max() <= 1  # the last bits may round up
    np.testing.assert_allclose(outcome["log_evidence"].values[0], -np.arange(1, 401) * np.log(8))


@pytest.mark.parametrize("value", [np.nan, 0.0])
def test_backward_messages_that_are_lost_are_counted(
    run: Run, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = hmm.smoother

    def losing(*model: Floats) -> hmm.Smoothed:
        found = right(*model)
        found.backward[0, 3] = value
        return found

    monkeypatch.setattr(hmm, "smoother", losing)
    assert run(HmmUnderflow(length=20, sequences=2))["lost"].values == (2 if np.isnan(value) else 1)


def test_runs_repeat(run: Run) -> None:
    study = HmmUnderflow(dimensions=[2], sequences=3, length=50)
    assert not diff_outcomes(run(study), run(study))
