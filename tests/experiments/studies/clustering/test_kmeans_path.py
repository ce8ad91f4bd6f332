"""K-means step by step against a plain loop."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.drawing.registry import figures
from experiments.studies.clustering.kmeans_path import KmeansPath
from models.types import Floats

Run = Callable[..., Outcome]


def plain(X: Floats, centres: Floats, cycles: int) -> list[float]:
    """J after E1, M1, E2, M2, ... by loops over points and centres."""
    centres, J = centres.copy(), []
    for _ in range(cycles):
        labels = [int(np.argmin([np.sum((x - c) ** 2) for c in centres])) for x in X]
        J.append(sum(np.sum((x - centres[k]) ** 2) for x, k in zip(X, labels, strict=True)))
        for k in range(len(centres)):
            centres[k] = np.mean([x for x, j in zip(X, labels, strict=True) if j == k], axis=0)
        J.append(sum(np.sum((x - centres[k]) ** 2) for x, k in zip(X, labels, strict=True)))
    return J


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"start": [[1.0], [2.0]]}, "needs 2 numbers"),
        ({"start": []}, "is empty"),
        ({"jitter": -0.1}, "study.jitter"),
        ({"panels": 17}, "study.panels"),
        ({"data": None, "centres": [[0.0], [4.0]], "start": [[0.0], [1.0]]}, "study.panels=9"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        KmeansPath(**knobs)  # type: ignore[arg-type]


def test_distortion_against_a_plain_loop(run: Run) -> None:
    study = KmeansPath(repetitions=50)
    outcome = run(study)
    X, centres = outcome["points"].values, outcome["centres"].values
    assert outcome["distortion"].along("half_step").tolist() == (
        ["E1", "M1", "E2", "M2", "E3", "M3", "E4", "M4", "E5", "M5"]
    )
    assert_allclose(outcome["distortion"].values, plain(X, centres[0], 5), rtol=1e-10)
    assert_array_equal(centres[0], study.start)
    labels = outcome["labels"].values
    for step, members in enumerate(labels[:-1], start=1):  # the means of what the E step assigned
        means = [X[members == k].mean(axis=0) for k in range(2)]
        assert_allclose(centres[step], means, rtol=1e-10)
    assert_array_equal(labels[-1], labels[-2])
    assert sorted(outcome["cluster_size"].values) == [98, 174]
    assert outcome["bisector_margin"].values.min() > 0
    assert outcome["cycles"].values.shape == (50,)
    assert list(figures(study, outcome)) == ["steps", "cost", "starts"]


def test_without_jitter_every_repetition_is_the_start(run: Run) -> None:
    study = KmeansPath(jitter=0.0, repetitions=3, panels=0)
    outcome = run(study)
    assert outcome["cycles"].values.tolist() == [5, 5, 5]
    assert_allclose(outcome["final_distortion"].values, outcome["distortion"].values[-1])
    assert list(figures(study, outcome)) == ["cost", "starts"]


def test_a_centre_without_points_is_counted(run: Run) -> None:
    study = KmeansPath(start=[[0.0, 0.0], [50.0, 50.0]], jitter=0.0, repetitions=2, panels=0)
    assert run(study)["clusters_left"].values.tolist() == [1, 1]


def test_random_starts_in_a_box(run: Run) -> None:
    study = KmeansPath(data="fcml-kmeans", standardise=False, start=[], k=3, repetitions=60)
    outcome = run(study)
    X, centres = outcome["points"].values, outcome["centres"].values
    assert (np.abs(centres[0]) <= 5).all()
    expected = plain(X, centres[0], len(centres) - 1)
    assert_allclose(outcome["distortion"].values, expected, rtol=1e-10)
    best = outcome["final_distortion"].values.min()
    assert outcome["distortion"].values[-1] == pytest.approx(best)  # the best is shown
    with pytest.raises(BadInput, match="exactly one"):
        KmeansPath(k=3)
    with pytest.raises(BadInput, match=r"study\.box"):
        KmeansPath(start=[], k=3, box=[1.0, 0.0])
