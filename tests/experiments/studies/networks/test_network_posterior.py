"""Study `network_posterior`: settings and results."""

from collections.abc import Callable

import numpy as np

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.networks.network_posterior import NetworkPosterior

Run = Callable[..., Outcome]


def test_error_bars_and_chains(run: Run) -> None:
    found = run(NetworkPosterior(hidden=2, cycles=3, repetitions=2, samples=20))
    assert found["deviation"].values.shape == (2, 101)
    assert (found["sampled_deviation"].values > 0).any()
    assert 0 < found["acceptance"].values.mean() <= 1
    assert found["sample"].values.shape == (20, 101)
    assert (found["diagonal_ratio"].values > 0).all()


def test_groups_have_precisions_of_their_own(run: Run) -> None:
    knobs = {"problem": "redundant", "points": 30, "hidden": 2, "groups": "inputs", "cycles": 1}
    found = run(NetworkPosterior(**knobs, updates=3, repetitions=2))
    assert found["alpha"].coord("group").tolist() == ["x1", "x2", "x3", "b", "w", "c"]
    assert np.all(found["alpha"].values > 0)
    assert "predicted" not in found
