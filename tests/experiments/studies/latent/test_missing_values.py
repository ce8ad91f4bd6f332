"""Missing values: what is removed, what is said of it, and by which treatment."""

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.studies.latent.missing_values import MissingValues


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"probabilities": [0.3, 0.1]}, "rising"),
        ({"probabilities": [1.0]}, "study.probabilities"),
        ({"n_each": 3}, "4 objects each"),
        ({"treatments": ["mean"]}, "study.treatments"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs, complaint):
    with pytest.raises(BadInput, match=complaint):
        MissingValues(**knobs)


def test_missing_values(run):
    study = MissingValues(
        probabilities=[0.05, 0.5], treatments=["switches", "latent"], repetitions=10
    )
    outcome = run(study)
    assert outcome["seen"].values[:3, :2].tolist() == [[1, 1], [1, 0], [0, 0]]
    assert (np.diff(outcome["log_volume"].values) > 0).all()
    assert outcome["covariances_apart"].at(treatment="latent").values.max() < 1e-12
    assert outcome["covariances_apart"].at(treatment="switches").values.min() > 1e-3
    assert outcome["smallest_gain"].values.min() > -1e-9
    # Nearly independent of the draw: y_2 has variance 6.25 between the clusters, 1 within.
    assert outcome["predicted_variance"].values.mean() == pytest.approx(6.25, abs=1)


def test_halfway_between_the_groups_is_a_half(run):
    study = MissingValues(repetitions=2)
    means = np.zeros((1, len(study.labels), 2))
    means[:, study.labels == 3] = [2.0, 2.0]  # the cluster with the first variable of cluster 0
    means[:, 1] = [1.0, 1.0]
    own = 1 / study.n_each  # object 1 is in its own group's mean
    assert study._place(means) == pytest.approx((1 - own) / (2 - own))
