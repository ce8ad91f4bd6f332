"""Study `leapfrog`: recorded quantities, and rules."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.sampling.leapfrog import Leapfrog
from bythebook.models.sampling import dynamics

Run = Callable[..., Outcome]


def test_steps_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="a whole part of 2"):
        Leapfrog(step_sizes=[0.3])


def test_errors_of_second_order(run: Run) -> None:
    found = run(Leapfrog(["coupled"], [0.2, 0.1], 1.0, points=6, repetitions=3))
    error = found["trajectory_error"].values[0].mean(-1)
    assert 3 < error[0] / error[1] < 5
    assert found["balance_gap"].sel(formula="as printed").values.max() > 1e-3


def test_a_wrong_force_is_noticed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    right = dynamics.ENERGIES["quartic"]
    wrong = right._replace(force=lambda z: -1.1 * z**3)
    monkeypatch.setitem(dynamics.ENERGIES, "quartic", wrong)
    found = run(Leapfrog(["quartic"], [0.2], 2.0, points=6, repetitions=10))
    assert np.abs(found["force"].values + found["slope"].values).max() > 0.01
    assert found["flow_energy_drift"].values.max() > 0.01
    assert np.abs(found["determinant"].values - 1).max() < 1e-5  # any force keeps volume
