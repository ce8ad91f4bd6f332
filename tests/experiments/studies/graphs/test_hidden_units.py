"""Study `hidden_units`: invalid settings, and the effect of hidden units."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.hidden_units import HiddenUnits

Run = Callable[..., Outcome]


def test_hidden_units_come_in_their_order() -> None:
    with pytest.raises(InputError, match="not in their order"):
        HiddenUnits(hidden_units=[1, 0])


def test_a_parity_needs_a_hidden_unit(run: Run) -> None:
    found = run(HiddenUnits(visible=3, draws=2, hidden_units=[0, 1]))
    none, one = found["divergence"].values
    parity = np.exp([1.5, -1.5]) / (8 * np.cosh(1.5))  # its pairs are independent
    assert none == pytest.approx((4 * parity * np.log(8 * parity)).sum(), abs=1e-6)
    assert one < 0.1 * none
    assert found["parameter_count"].values.tolist() == [6, 10]
    assert found["third_moment"].values.shape == (2, 1)
