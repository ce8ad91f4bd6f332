"""Study `stochastic_likelihood`: the likelihood increases, and as printed it does not."""

from collections.abc import Callable

import numpy as np

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.stochastic_likelihood import StochasticLikelihood

Run = Callable[..., Outcome]


def test_it_climbs_to_the_maximum_and_as_printed_falls(run: Run) -> None:
    found = run(
        StochasticLikelihood(
            rows=2, columns=2, epochs=20, samples=40, gibbs_steps=[2], runs=6, cases=100, batch=20
        )
    )
    start = found["start_log_likelihood"].values
    assert (found["log_likelihood"].sel(way="persistent").values > start.max()).all()
    assert found["printed_log_likelihood"].values.max() < start.min()
    mean = found["estimate"].sel(way="persistent", gibbs_steps=2).values.mean(0)
    assert np.abs(mean - found["maximum"].values).max() < 0.2
    assert len(found["step_distance"]) == 19 * 5
    assert 0 < float(found["whole_distance"].item) < 1
