"""Study `transition_kernels`: settings and results."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.chains.transition_kernels import KERNELS, TransitionKernels

Run = Callable[..., Outcome]


def test_there_are_two_variables() -> None:
    with pytest.raises(InputError, match="two"):
        TransitionKernels(shape=[2, 2, 2])


def test_which_kernels_balance(run: Run) -> None:
    found = run(TransitionKernels(draws=10))
    worst = found["balance_gap"].values.max(1)
    open_ones = {"composition", "rotation", "conditionals in turn"}
    assert {k for k, gap in zip(KERNELS, worst, strict=True) if gap > 1e-12} == open_ones
    rows = np.abs(found["row_sum"].values - 1).max(1)
    assert [k for k, gap in zip(KERNELS, rows, strict=True) if gap > 1e-12] == [
        "accepted without rejections"
    ]
    assert not found["ergodic"].sel(kernel="identity").values.any()
    assert np.all(found["least_enlargement"].values > 1)
