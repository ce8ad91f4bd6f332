"""Study `stochastic_likelihood`: runs that increase the likelihood, and exact updates."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.stochastic_likelihood import StochasticLikelihood

Run = Callable[..., Outcome]


def test_runs_approach_the_maximum(run: Run) -> None:
    study = StochasticLikelihood(
        rows=2,
        columns=2,
        epochs=20,
        samples=40,
        gibbs_steps=[2],
        repetitions=6,
        cases=100,
        batch=20,
        draws=3,
    )
    found = run(study)
    course = found["course"].sel(method="persistent", gibbs_steps=2).values
    assert course[-1] > course[0]
    mean = found["estimate"].sel(method="persistent", gibbs_steps=2).values.mean(0)
    assert np.abs(mean - found["maximum"].values).max() < 0.2
    assert len(found["step_distance"]) == 19 * 5
    assert 0 < float(found["total_distance"].item) < 1
    # Chains in equilibrium stay there; from the data, they do not, and many sweeps forget it.
    assert np.abs(found["expected_gradient"].sel(method="persistent").values).max() < 1e-12
    assert np.abs(found["expected_gradient"].sel(method="contrastive").values).max() > 1e-6
    far = run(replace(study, gibbs_steps=[1, 100]))["bias"].values
    assert np.abs(far[0]).max() > 1e-4
    assert np.abs(far[1]).max() < 1e-8
