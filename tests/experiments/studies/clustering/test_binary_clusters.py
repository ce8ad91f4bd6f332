"""Binary clusters: probabilities at their bounds, and variables that are constant."""

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.clustering.binary_clusters import BinaryClusters
from bythebook.models.clustering.bernoulli_mixture import constant_variables


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"priors": [2.0, 2.0]}, "study.priors"),
        ({"priors": [0.5]}, "study.priors"),
        ({"k": 1}, "study.k"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs, complaint):
    with pytest.raises(InputError, match=complaint):
        BinaryClusters(**knobs)


def test_the_prior_keeps_probabilities_from_their_bounds(run):
    outcome = run(BinaryClusters(priors=[1.0, 2.0], draws=3, restarts=2))
    assert outcome["share_at_bounds"].sel(prior=1.0).values.mean() > 0
    assert (outcome["share_at_bounds"].sel(prior=2.0).values == 0).all()
    labels, X = outcome["labels"].values, outcome["points"].values
    assert X.shape == (100, 10)
    expected = constant_variables(X, labels, 5)
    np.testing.assert_array_equal(outcome["constant_variables"].sel(draw=0).values, expected)
