"""Study `network_fit`: settings and results."""

from collections.abc import Callable

import pytest

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.networks.network_fit import NetworkFit

Run = Callable[..., Outcome]


def test_a_square_is_fitted(run: Run) -> None:
    found = run(NetworkFit(targets=["square"], points=12, starts=3))
    assert found["fit_error"].values[0] < 0.01
    assert found["end_slope"].values.shape == (1, 3)
    assert found["idle_unit_eigenvalue"].item == pytest.approx(0, abs=1e-9)
    assert "median_error" not in found


def test_methods_are_compared(run: Run) -> None:
    ways = ["gradient", "quasi-newton"]
    found = run(NetworkFit(points=10, noise=0.1, hidden=2, starts=2, methods=ways, budget=60))
    assert found["median_error"].coord("evaluation")[-1] == 60
    assert (found["median_error"].values[:, -1] < found["median_error"].values[:, 0]).all()
