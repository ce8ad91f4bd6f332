"""Binary clusters: the limits of the update by hand, statements that can fail."""

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.clustering.binary_clusters import BinaryClusters, _most_constant


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"priors": [2.0, 1.0]}, "rising"),
        ({"priors": [0.5]}, "study.priors"),
        ({"k": 1}, "study.k"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        BinaryClusters(**knobs)  # type: ignore[arg-type]


def test_the_limits_of_the_map_update() -> None:
    study = BinaryClusters(priors=[1.0, 2.0], draws=3, restarts=2)
    outcome = study.run(generator(study.name, 0))
    assert outcome.metrics["smallest_p"] == pytest.approx(1 / 102)  # not 1/2, as printed
    assert outcome.metrics["largest_p"] == pytest.approx(101 / 102)
    assert outcome.metrics["printed_minimum_is_attained"] is False
    assert outcome.metrics["flat_prior_changes_nothing"] is True
    assert outcome.metrics["mean_pinned_prior_1"] > 0
    assert outcome.metrics["never_pinned_prior_2"] is True
    labels, X = outcome.arrays["labels"], outcome.arrays["X"]
    assert X.shape == (100, 10)
    assert outcome.arrays["most_constant"][0] == _most_constant(X, labels, 5)
    assert list(study.draw(outcome)) == ["clusters"]


def test_constant_variables_are_counted_in_clusters_of_some_size() -> None:
    X = np.array([[1, 0, 1]] * 5 + [[1, 1, 0]] * 5 + [[0, 0, 0]] * 2, dtype=float)
    labels = np.repeat([0, 1, 2], [5, 5, 2])
    X[0, 2] = 0
    assert _most_constant(X, labels, 3) == 3
    X[5, :2] = 0
    assert _most_constant(X, labels, 3) == 2
