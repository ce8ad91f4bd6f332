"""Mixtures of counts."""

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.clustering.poisson_clusters import PoissonClusters


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"weights": [0.5, 0.4]}, "sum 1"),
        ({"rates": [1.0]}, "study.rates"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs, complaint):
    with pytest.raises(InputError, match=complaint):
        PoissonClusters(**knobs)


def test_counts(run):
    outcome = run(PoissonClusters(n=3000))
    assert outcome["rate"].values == pytest.approx([2, 10], abs=0.3)
    assert outcome["weight"].values == pytest.approx([0.4, 0.6], abs=0.04)
    assert outcome["part"].values.sum() == pytest.approx(1, abs=1e-3)
