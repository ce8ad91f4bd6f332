"""Study `network_priors`: settings and results."""

from collections.abc import Callable

import numpy as np

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.networks.network_priors import NetworkPriors


def test_output_precisions_scale_what_they_should(run: Callable[..., Outcome]) -> None:
    found = run(NetworkPriors(hidden=3, draws=200, repetitions=2))
    level = found["level_spread"]
    grown = level.sel(reduced="c").values ** 2 - level.sel(reduced="default").values ** 2
    assert np.allclose(grown, 9.0, atol=4)  # 10 / alpha_c - 1 / alpha_c, of 200 functions
    assert found["sample"].values.shape == (5, 10, 61)
