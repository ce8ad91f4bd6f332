"""Binary clusters: the limits of the update by hand, and a count that can be checked."""

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.studies.clustering.binary_clusters import BinaryClusters, _most_constant


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"priors": [2.0, 1.0]}, "rising"),
        ({"priors": [0.5]}, "study.priors"),
        ({"k": 1}, "study.k"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs, complaint):
    with pytest.raises(BadInput, match=complaint):
        BinaryClusters(**knobs)


def test_the_limits_of_the_map_update(run):
    outcome = run(BinaryClusters(priors=[1.0, 2.0], draws=3, restarts=2))
    zeros, ones = outcome["extreme_update"].values
    assert zeros == pytest.approx(1 / 102)  # not 1/2, as printed
    assert ones == pytest.approx(101 / 102)
    assert outcome["flat_prior_change"].item == 0
    assert outcome["pinned"].at(prior=1.0).values.mean() > 0
    assert (outcome["pinned"].at(prior=2.0).values == 0).all()
    labels, X = outcome["labels"].values, outcome["points"].values
    assert X.shape == (100, 10)
    assert outcome["most_constant"].values[0] == _most_constant(X, labels, 5)


def test_constant_variables_are_counted_in_clusters_of_some_size():
    X = np.array([[1, 0, 1]] * 5 + [[1, 1, 0]] * 5 + [[0, 0, 0]] * 2, dtype=float)
    labels = np.repeat([0, 1, 2], [5, 5, 2])
    X[0, 2] = 0
    assert _most_constant(X, labels, 3) == 3
    X[5, :2] = 0
    assert _most_constant(X, labels, 3) == 2
    assert _most_constant(X, np.arange(12) % 12, 12) == 0
