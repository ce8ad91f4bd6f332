"""Study `network_symmetries`: settings and results."""

from collections.abc import Callable

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.networks.network_symmetries import NetworkSymmetries


def test_numbers_of_equal_settings(run: Callable[..., Outcome]) -> None:
    found = run(NetworkSymmetries(hidden=[2], draws=2, fits=2, restarts=3, fitted=2, points=8))
    assert found["equal_all"].values.tolist() == [[8, 8]]
    assert found["equal_flips"].values.tolist() == [[4, 4]]
    assert found["flip_gap"].values.max() < 1e-12
    assert found["fit"].values.shape == (3, 101)
