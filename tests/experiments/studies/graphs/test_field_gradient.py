"""Study `field_gradient`: invalid settings, and the effect of hidden units."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.field_gradient import FieldGradient

Run = Callable[..., Outcome]


def test_hidden_units_come_in_their_order() -> None:
    with pytest.raises(InputError, match="not in their order"):
        FieldGradient(hidden_units=[1, 0])


def test_differences_agree_and_a_parity_needs_a_hidden_unit(run: Run) -> None:
    found = run(FieldGradient(visible=3, hidden=1, cases=200, draws=2, hidden_units=[0, 1]))
    assert found["gradient_error"].values.max() < 1e-8
    assert found["clamped_error"].values.max() < 1e-8
    assert found["curvature"].values.max() < 0
    assert found["moment_gap"].values.max() < 1e-4
    none, one = found["divergence"].values
    uniform = np.exp([1.5, -1.5]) / (8 * np.cosh(1.5))  # what pairs see of it is chance
    assert none == pytest.approx((4 * uniform * np.log(8 * uniform)).sum(), abs=1e-6)
    assert one < 0.1 * none
    assert found["numbers"].values.tolist() == [6, 10]
