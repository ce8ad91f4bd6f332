"""Study `asymptotic_evidence`: settings and results."""

from collections.abc import Callable

import numpy as np
from numpy.testing import assert_allclose

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.asymptotic_evidence import AsymptoticEvidence

Run = Callable[..., Outcome]


def test_models_and_identities(run: Run) -> None:
    found = run(AsymptoticEvidence(["coin", "product", "linear"], [20, 200], sets=3))
    evidence = found["log_evidence"]
    assert evidence.dims == ("model", "way", "points", "set")
    linear = evidence.sel(model="linear")
    assert_allclose(linear.sel(way="laplace").values, linear.sel(way="exact").values)
    assert np.abs(found["identity_gap"].values).max() < 1e-6
    assert_allclose(found["gaussian_mass"].values[1], 1)
    assert_allclose(found["gaussian_mass"].values[0, 0], (2 * np.pi) ** -0.5)
    assert found["rise_nearby"].dims == ("points", "set")
    assert "rise_nearby" not in run(AsymptoticEvidence(["coin"], [5, 9], sets=2))
