"""K-means step by step against a plain loop."""

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.clustering.kmeans_path import KmeansPath, by_bisector, never_rises
from models.types import Floats


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


def test_distortion_against_a_plain_loop() -> None:
    study = KmeansPath(repetitions=50)
    outcome = study.run(generator(study.name, 0))
    X = outcome.arrays["X"]
    cycles = outcome.metrics["cycles"]
    assert cycles == 5
    expected = plain(X, np.array(study.start), cycles)
    np.testing.assert_allclose(outcome.series["distortion"].values, expected, rtol=1e-10)
    assert outcome.tables["steps"]["step"] == [
        "E1",
        "M1",
        "E2",
        "M2",
        "E3",
        "M3",
        "E4",
        "M4",
        "E5",
        "M5",
    ]
    centres, labels = outcome.arrays["centres"], outcome.arrays["labels"]
    np.testing.assert_array_equal(centres[0], study.start)
    for step, members in enumerate(labels, start=1):  # the means of what the E step assigned
        means = [X[members == k].mean(axis=0) for k in range(2)]
        np.testing.assert_allclose(centres[step], means, rtol=1e-10)
    assert outcome.metrics["smallest_cluster"] == 98
    assert outcome.metrics["last_cycle_changes_nothing"] is True
    assert outcome.metrics["assignment_is_by_bisector"] is True
    assert len(outcome.arrays["m_steps_to_converge"]) == 50
    assert list(study.draw(outcome)) == ["steps", "cost", "starts"]


def test_without_jitter_every_repetition_is_the_start() -> None:
    study = KmeansPath(jitter=0.0, repetitions=3, panels=0)
    outcome = study.run(generator(study.name, 0))
    assert outcome.arrays["cycles"].tolist() == [5, 5, 5]
    assert outcome.metrics["same_minimum_unless_empty"] is True
    assert list(study.draw(outcome)) == ["cost", "starts"]


def test_a_centre_without_points_is_counted() -> None:
    study = KmeansPath(start=[[0.0, 0.0], [50.0, 50.0]], jitter=0.0, repetitions=2, panels=0)
    assert study.run(generator(study.name, 0)).metrics["share_empty"] == 1.0


def test_statements_can_be_false() -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0]])
    centres = np.array([[[0.0, 0.0], [1.0, 0.0]]])
    assert by_bisector(X, centres, np.array([[0, 1]]))
    assert not by_bisector(X, centres, np.array([[1, 1]]))
    assert not by_bisector(X, centres, np.array([[0, 0]]))
    assert never_rises(np.array([3.0, 2.0, 2.0, np.nan]))
    assert not never_rises(np.array([3.0, 2.0, 2.1, np.nan]))


def test_random_starts_in_a_box() -> None:
    study = KmeansPath(data="fcml-kmeans", standardise=False, start=[], k=3, repetitions=60)
    outcome = study.run(generator(study.name, 0))
    X, centres = outcome.arrays["X"], outcome.arrays["centres"]
    assert (np.abs(centres[0]) <= 5).all()
    expected = plain(X, centres[0], outcome.metrics["cycles"])
    np.testing.assert_allclose(outcome.series["distortion"].values, expected, rtol=1e-10)
    finals = [row[~np.isnan(row)][-1] for row in outcome.arrays["distortion_near"]]
    assert outcome.metrics["final_distortion"] == pytest.approx(min(finals))  # the best is shown
    with pytest.raises(BadInput, match="exactly one"):
        KmeansPath(k=3)
    with pytest.raises(BadInput, match=r"study\.box"):
        KmeansPath(start=[], k=3, box=[1.0, 0.0])
