"""Study `network_priors`: settings and results."""

from collections.abc import Callable

import numpy as np

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.networks.network_priors import NetworkPriors


def test_output_precisions_scale_what_they_should(run: Callable[..., Outcome]) -> None:
    found = run(NetworkPriors(hidden=3, draws=200, repetitions=2))
    squares = found["expected_square"]
    grown = squares.sel(reduced="c").item - squares.sel(reduced="default").item
    assert np.isclose(grown, 9.0)
    assert found["rescaled_gap"].values.max() < 1e-12
    assert found["sample"].values.shape == (5, 10, 61)
