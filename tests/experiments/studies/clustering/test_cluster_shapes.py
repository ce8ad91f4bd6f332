"""Clusters that are not round, against scikit-learn."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.clustering.cluster_shapes import ClusterShapes


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": None, "stretched": False}, "nothing to cluster"),
        ({"offset": [1.0]}, "study.offset"),
        ({"sd": [1.0, 0.0]}, "study.sd"),
        ({"methods": ["ward"]}, "study.methods"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        ClusterShapes(**knobs)  # type: ignore[arg-type]


def test_kmeans_fails_as_that_of_scikit_learn_does() -> None:
    study = ClusterShapes(methods=["kmeans", "mixture"], repetitions=2, restarts=5)
    outcome = study.run(generator(study.name, 0))
    X, truth = outcome.arrays["X_stretched"], outcome.arrays["truth_stretched"]
    theirs = KMeans(2, n_init=20, random_state=0).fit(X)
    ours = outcome.arrays["labels_kmeans_stretched"]
    assert adjusted_rand_score(theirs.labels_, ours) == pytest.approx(1)
    assert adjusted_rand_score(truth, ours) < 0.3
    assert adjusted_rand_score(truth, outcome.arrays["labels_mixture_stretched"]) > 0.9
    assert outcome.metrics["mixture_always_finds_stretched"] is True
    assert outcome.metrics["kmeans_always_fails_stretched"] is True
    rings = outcome.arrays["X_rings"]
    inner = np.linalg.norm(rings, axis=1) < 0.9
    gap = np.linalg.norm(rings[inner].mean(axis=0) - rings[~inner].mean(axis=0))
    assert outcome.metrics["rings_mean_gap"] == pytest.approx(gap)
    assert list(study.draw(outcome)) == ["clusters"]


def test_round_clusters_are_no_trouble() -> None:
    study = ClusterShapes(data=None, offset=[9.0, 0.0], sd=[0.5, 0.5], repetitions=3)
    metrics = study.run(generator(study.name, 0)).metrics
    assert metrics["kmeans_always_finds_stretched"] is True
    assert metrics["kmeans_always_fails_stretched"] is False
    assert metrics["some_nearer_to_the_other_mean"] is False
