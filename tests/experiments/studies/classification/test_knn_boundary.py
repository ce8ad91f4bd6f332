"""Decision regions of nearest neighbours: islands by hand, votes listed, maps by scikit-learn."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.classification.knn_boundary import KnnBoundary, islands, smallest_k_without


def test_islands_are_the_regions_beyond_the_first_of_each_class() -> None:
    region = np.zeros((6, 6), dtype=bool)
    assert islands(region) == 0
    region[:, 4:] = True
    assert islands(region) == 0
    region[1, 1] = True
    assert islands(region) == 1
    region[3, 5] = False
    assert islands(region) == 2
    region[2, 2] = True  # touches the first by a corner
    assert islands(region) == 2


def test_the_vote_that_cannot_be_won() -> None:
    assert smallest_k_without(50, 10) == 21  # FCML 5.3.1.1
    assert smallest_k_without(50, 20) == 41
    assert smallest_k_without(3, 5) == 9  # the larger class always can


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"ks": [71]}, "70 points"),
        ({"ks": [5, 1]}, "ascending"),
        ({"centres": [[0.0, 0.0]]}, "two places"),
        ({"sizes": [5]}, "two numbers"),
        ({"low": [0.0]}, "two numbers each"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        KnnBoundary(**knobs)  # type: ignore[arg-type]


def test_the_map_is_that_of_scikit_learn() -> None:
    study = KnnBoundary(ks=[3], flipped=2, repetitions=2, step=0.5)
    outcome = study.run(generator(study.name, 0))
    a = outcome.arrays
    assert (a["t"] != np.repeat([0, 1], study.sizes)).sum() == 2
    grid = np.stack(np.meshgrid(a["x"], a["y"]), axis=-1).reshape(-1, 2)
    theirs = KNeighborsClassifier(3).fit(a["X"], a["t"]).predict(grid)
    np.testing.assert_array_equal(a["map"][0].ravel(), theirs == 1)
    assert list(study.draw(outcome)) == ["boundary"]


def test_a_class_that_never_wins_is_drawn_too() -> None:
    study = KnnBoundary(sizes=[50, 10], ks=[19, 21], repetitions=3)
    outcome = study.run(generator(study.name, 0))
    assert outcome.metrics["class_1_never_predicted_k_21"] is True
    assert outcome.metrics["class_1_never_predicted_k_19"] is False
    assert list(study.draw(outcome)) == ["boundary"]
