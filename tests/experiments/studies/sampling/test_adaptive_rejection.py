"""Recorded quantities of the study of adaptive rejection."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.sampling.adaptive_rejection import AdaptiveRejection

Run = Callable[..., Outcome]


def test_an_unknown_density_is_refused() -> None:
    with pytest.raises(InputError, match=r"study\.targets"):
        AdaptiveRejection(["cauchy"])


def test_axes_and_draws(run: Run) -> None:
    found = run(AdaptiveRejection(["gamma", "logistic"], 5, 2, runs=50, repetitions=4))
    assert found["rejection_probability"].values.shape == (2, 4, 50, 4)
    assert found["draw_p"].values.shape == (2, 2, 4)
    assert np.median(found["draw_p"].values) > 0.05
    assert found["log_envelope"].coord("grid_points").tolist() == [3, 5]
    gap = found["log_envelope"].values - found["log_target"].values
    assert gap.min() >= -1e-12
    assert gap[1].mean() < gap[0].mean()
    assert 0 <= found["plain_p"].item <= 1
