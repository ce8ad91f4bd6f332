"""Study `chain_capacity`: invalid settings, and counts by hand."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.chains.chain_capacity import ChainCapacity

Run = Callable[..., Outcome]


def test_too_many_states_are_refused() -> None:
    with pytest.raises(InputError, match="81 joint states; allowed: up to 27"):
        ChainCapacity(states=[3], chains=[4])


def test_counts(run: Run) -> None:
    found = run(ChainCapacity(states=[2, 3], chains=[1, 2], draws=3))
    assert found["joint_states"].values.tolist() == [[2, 4], [3, 9]]
    # K^(2M) - 1 of all two steps; for each chain K^2 - 1.
    assert found["flat_parameters"].values.tolist() == [[3, 15], [8, 80]]
    assert found["chain_parameters"].values.tolist() == [[3, 6], [8, 16]]
    assert_allclose(found["cycle_information"].values, np.log2([[2, 4], [3, 9]]))
    bound = np.log2([[2, 4], [3, 9]])[..., None]
    assert (found["information"].values <= bound).all()
    assert found["information"].values.min() > 0
    assert found["step_gap"].values.max() < 1e-12
