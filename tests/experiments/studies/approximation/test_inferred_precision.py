"""Study `inferred_precision`: settings, and bounds below the evidence."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.inferred_precision import InferredPrecision

Run = Callable[..., Outcome]


def test_two_numbers() -> None:
    with pytest.raises(InputError, match="two numbers"):
        InferredPrecision(weights=[1.0])


def test_bounds_are_ordered(run: Run) -> None:
    found = run(InferredPrecision(points=8, repetitions=2, hyperprior=[2.0, 0.5], iterations=5))
    bound, whole = found["bound"].values, found["global_bound"].values
    assert bound.shape == (2, 15)
    assert (np.diff(bound) > -1e-10).all()
    assert (bound < whole).all()
    assert (whole < found["log_evidence"].values[:, None]).all()
    assert found["expected_precision"].values[:, 0] == pytest.approx((2 + 1) / (0.5 + 1))
