"""The bound: touching the evidence at the posterior, below it elsewhere, and as sampled."""

import pytest

from experiments.studies.latent.variational_bound import VariationalBound


def test_exercises(run):
    outcome = run(VariationalBound(repetitions=1))
    evidence = outcome["log_evidence"].item
    bound = outcome["regression_bound"]
    assert bound.values.max() == pytest.approx(evidence)
    assert bound.at(scale=1, shift=0).item == bound.values.max()
    assert outcome["regression_bound_elsewhere"].values.max() < evidence
    value = outcome["bound"].values[0]
    error = outcome["sampling_error"].item
    assert outcome["sampled_bound"].item == pytest.approx(value, abs=4 * error)
    assert outcome["bound_beside"].values.max() < value
    assert outcome["treatments_apart"].item < 1e-10
