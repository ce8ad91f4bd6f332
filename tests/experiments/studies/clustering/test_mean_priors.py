"""Means with a prior: pinned by a tight one, left alone by a loose one."""

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.studies.clustering.mean_priors import MeanPriors


def test_variances_must_rise():
    with pytest.raises(BadInput, match="rising"):
        MeanPriors(variances=[1.0, 0.1])


def test_mean_priors(run):
    outcome = run(MeanPriors(data="fcml-kmeans", standardise=False, centre=1.0, restarts=5))
    means = outcome["means"].values
    np.testing.assert_allclose(means[0], 1.0, atol=1e-3)
    np.testing.assert_allclose(means[-1], outcome["means_without_prior"], atol=0.01)
    assert outcome["step_from_maximum"].item < 1e-4
    assert outcome["smallest_gain"].values.min() >= -1e-9
    distance = np.sqrt(((means[2] - 1) ** 2).sum(axis=1).mean())
    assert outcome["distance_from_prior"].at(variance=1.0).item == pytest.approx(distance)
