"""K-means from many starts against scikit-learn and closed forms."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.clustering.kmeans_starts import KmeansStarts


def run(study: KmeansStarts) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"k": [273]}, "there are 272 points"),
        ({"k": [2, 2]}, "repeats an entry"),
        ({"k": [0]}, "study.k"),
        ({"starts": ["luck"]}, "study.starts"),
        ({"box": [1.0]}, "low < high"),
        ({"box": [1.0, -1.0]}, "low < high"),
        ({"restarts": 0}, "study.restarts"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        KmeansStarts(**knobs)  # type: ignore[arg-type]


def test_best_distortion_is_that_of_scikit_learn() -> None:
    study = KmeansStarts(k=[1, 2, 3], starts=["points", "plus_plus", "box", "corner"], restarts=60)
    outcome = run(study)
    X = outcome.arrays["X"]
    for k in study.k:
        theirs = KMeans(k, n_init=10, random_state=0, tol=0).fit(X).inertia_
        assert outcome.metrics[f"best_distortion_k{k}"] == pytest.approx(theirs, rel=1e-6)
    assert outcome.metrics["best_distortion_k1"] == pytest.approx(2 * 272, rel=1e-12)
    assert outcome.metrics["several_minima"] is True
    assert outcome.metrics["always_converges"] is True
    assert outcome.metrics["distortion_zero_at_k_n"] is True
    assert outcome.metrics["share_best_points_k1"] == 1.0
    assert outcome.metrics["minima_points_k1"] == 1
    assert outcome.metrics["smallest_k_with_spread"] == 2  # from the corners
    assert list(study.draw(outcome)) == ["distortion", "cycles"]


def test_pairs_are_compared_by_their_averages_over_k() -> None:
    outcome = run(KmeansStarts(k=[2, 5], starts=["points", "corner"], restarts=40))
    table = outcome.tables["starts"]
    assert table["start"] == ["points", "points", "corner", "corner"]
    cycles = np.reshape(table["mean_cycles"], (2, 2)).mean(axis=1)
    assert outcome.metrics["points_fewer_cycles_than_corner"] is bool(cycles[0] < cycles[1])
    assert outcome.metrics["corner_fewer_cycles_than_points"] is bool(cycles[0] > cycles[1])
    logs = outcome.arrays["log_distortion_corner"]
    assert table["median_distortion"][2] == pytest.approx(np.exp(np.median(logs[0])), rel=1e-6)


def test_redrawing_leaves_no_cluster_empty_for_long() -> None:
    # Two groups far apart and three centres in one small corner of a huge box.
    knobs = {"data": None, "standardise": False, "centres": [[0.0, 0.0], [9.0, 9.0]], "k": [3]}
    kept = run(KmeansStarts(**knobs, starts=["box"], box=[50.0, 60.0], restarts=20))  # type: ignore[arg-type]
    again = run(KmeansStarts(**knobs, starts=["box"], box=[-5.0, 60.0], restarts=20, redraw=True))  # type: ignore[arg-type]
    assert kept.metrics["best_distortion_k3"] > 2 * again.metrics["best_distortion_k3"]
    assert list(KmeansStarts(**knobs, starts=["box"]).draw(_logs(again))) == ["distortion"]  # type: ignore[arg-type]


def _logs(outcome: Outcome) -> Outcome:
    return Outcome(arrays={"log_distortion_box": outcome.arrays["log_distortion_box"]})
