"""Points to be clustered: the knobs that many studies share, and what they draw."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.clustering.restarts import Restarts


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": None}, "exactly one"),
        ({"centres": [[0.0, 0.0]]}, "exactly one"),
        ({"data": None, "centres": [[0.0, 0.0], [1.0]]}, "needs 2 numbers"),
        ({"data": None, "centres": [[0.0, float("nan")]]}, "nan is not allowed"),
        ({"spread": 0.0}, "study.spread"),
        ({"n_each": 0}, "study.n_each"),
        ({"data": "geyser"}, "study.data"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs, complaint):
    with pytest.raises(InputError, match=complaint):
        Restarts(**knobs)


def test_drawn_clusters_have_their_centres_and_spread():
    study = Restarts(
        data=None, centres=[[0.0, 5.0], [-3.0, 0.0]], spread=0.5, n_each=4000, standardise=False
    )
    X = study.points(np.random.default_rng(0))
    assert X.shape == study.size == (8000, 2)
    first, second = X[:4000], X[4000:]
    assert_allclose(first.mean(0), [0, 5], atol=0.05)
    assert_allclose(second.mean(0), [-3, 0], atol=0.05)
    assert_allclose(first.std(0), 0.5, rtol=0.05)
    assert study.dataset_names() == []
