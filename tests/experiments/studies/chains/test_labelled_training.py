"""Labelled estimates: counts, moments, and the rate at which errors shrink."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import diff_outcomes
from bythebook.experiments.studies.chains.labelled_training import LabelledTraining
from bythebook.models.chains import baum_welch as bw
from bythebook.models.chains import baum_welch_starts

Run = Callable[..., Any]


def test_counts_moments_and_their_rate(run: Run) -> None:
    outcome = run(LabelledTraining(lengths=[200, 800, 3200], repetitions=30, shakes=50))
    assert outcome["counts_gap"].item < 1e-15
    assert outcome["moments_gap"].item < 1e-10
    assert np.all(outcome["largest_gain"].values <= 0)
    exponents = outcome["error_exponent"].values
    assert np.all((exponents > -0.7) & (exponents < -0.35))
    assert np.all(np.diff(outcome["rms_error"].values.mean(axis=-1), axis=1) < 0)
    # The loaded six among T / 3 loaded rolls: its binomial standard deviation is of this size.
    errors = outcome["rms_error"].sel(chain="casino", part="emissions")
    for T, error in zip(errors.coord("length"), errors.values, strict=True):
        assert 0.3 * math.sqrt(0.1 / (T / 3)) < error < 3 * math.sqrt(0.1 / (T / 3))
    labelled, random = outcome["book_labelled_final"].item, outcome["book_random_final"].values
    assert labelled == pytest.approx(-504.814, abs=5e-4)  # the catalogue's best
    assert random.max() <= labelled + 0.01


def test_estimates_off_the_counts_are_found_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    right = baum_welch_starts.labelled_categorical

    def smoothed(*options: Any) -> bw.CategoricalHMM:
        return right(*options[:3], bw.Prior(5.0, 5.0, 5.0))

    monkeypatch.setattr(baum_welch_starts, "labelled_categorical", smoothed)
    outcome = run(LabelledTraining(chains=["casino"], lengths=[100, 200], repetitions=2))
    assert outcome["counts_gap"].item > 1e-3
    assert outcome["largest_gain"].sel(chain="casino").item > 0


def test_a_rate_needs_two_lengths() -> None:
    with pytest.raises(InputError, match="at least two lengths"):
        LabelledTraining(lengths=[100])


def test_runs_repeat(run: Run) -> None:
    study = LabelledTraining(lengths=[50, 100], repetitions=3, shakes=3)
    assert not diff_outcomes(run(study), run(study))
