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


def test_parts_of_a_step_shear_a_circle(run: Run) -> None:
    ring = run(Leapfrog(["quartic"], [0.2], 2.0, points=2, repetitions=2))["ring"].values[0]
    z, r = np.moveaxis(ring, -1, 0)
    np.testing.assert_allclose((z[0] - 1) ** 2 + r[0] ** 2, 0.4**2)
    np.testing.assert_allclose(r[1:], r[0] - 0.25 * z[0] ** 3 + np.zeros((2, 1)))
    np.testing.assert_allclose(z[1:], [z[0], z[0] + 0.5 * r[1]])


def test_points_that_are_not_moved_by_the_dynamics_are_noticed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = dynamics.ENERGIES["quartic"]._replace(force=lambda z: -20 * z**3)
    monkeypatch.setitem(dynamics.ENERGIES, "quartic", wrong)
    found = run(Leapfrog(["quartic"], [0.2], 2.0, points=6, repetitions=10))
    assert np.median(found["invariant_p"].values) < 0.05
