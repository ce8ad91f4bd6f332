"""Clusters that are not round, against scikit-learn."""

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.clustering.cluster_shapes import ClusterShapes

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": None, "stretched": False}, "nothing to cluster"),
        ({"offset": [1.0]}, "study.offset"),
        ({"sd": [1.0, 0.0]}, "study.sd"),
        ({"methods": ["ward"]}, "study.methods"),
        ({"gamma": 0.0}, "study.gamma"),
        ({"snapshots": [1, 1]}, "study.snapshots"),
        ({"data": None, "gammas": [1.0]}, "study.gammas"),
        ({"methods": ["mixture"], "gammas": [1.0]}, "study.gammas"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        ClusterShapes(**knobs)  # type: ignore[arg-type]


def test_kmeans_fails_as_that_of_scikit_learn_does(run: Run) -> None:
    study = ClusterShapes(methods=["kmeans", "mixture"], repetitions=2, restarts=5)
    outcome = run(study)
    X, truth = outcome["stretched_points"].values[0], np.repeat([0, 1], 50)
    theirs = KMeans(2, n_init=20, random_state=0).fit(X)
    ours, mixture = outcome["stretched_labels"].values[0]
    assert adjusted_rand_score(theirs.labels_, ours) == pytest.approx(1)
    assert adjusted_rand_score(truth, ours) < 0.3
    assert adjusted_rand_score(truth, mixture) > 0.9
    for found, share in zip((ours, mixture), outcome["stretched_agreement"].values[0], strict=True):
        assert share == max(np.mean(found == truth), np.mean(found != truth))
    shares = outcome["stretched_share_in_first"].sel(stretched_draw=0, method="kmeans").values
    assert shares.tolist() == [np.mean(ours[:50] == 0), np.mean(ours[50:] == 0)]
    rings = outcome["rings_points"].values[0]
    inner = np.linalg.norm(rings, axis=1) < 0.9
    gap = np.linalg.norm(rings[inner].mean(axis=0) - rings[~inner].mean(axis=0))
    assert outcome["rings_mean_gap"].item == pytest.approx(gap)


def test_round_clusters_are_no_trouble(run: Run) -> None:
    outcome = run(ClusterShapes(data=None, offset=[9.0, 0.0], sd=[0.5, 0.5], repetitions=3))
    assert (outcome["stretched_agreement"].values == 1).all()
    assert sorted(outcome["stretched_share_in_first"].values[0, 0]) == [0, 1]


def test_the_disc_is_found_from_its_middle(run: Run) -> None:
    study = ClusterShapes(stretched=False, gammas=[1.0, 50.0], kernel_starts=3, snapshots=[1, 30])
    outcome = run(study)
    X = outcome["rings_points"].values[0]
    final = outcome["kernel_labels"].values[-1]
    np.testing.assert_array_equal(final == 1, np.linalg.norm(X, axis=1) < 0.9)
    assert outcome["kernel_agreement"].sel(start="middle").item == 1
    assert outcome["small_cluster"].values[[0, -1]].tolist() == [1, 499]
    assert outcome["random_agreement"].values.shape == (2, 3)
    right, wrong = outcome["agreement_by_gamma"].values
    assert right == 1
    assert wrong < 0.9
