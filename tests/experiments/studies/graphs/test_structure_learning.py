"""Study `structure_learning`: invalid settings, and exact results for two variables."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.structure_learning import StructureLearning

Run = Callable[..., Outcome]
COPY = {"a": [0.5, 0.5], "b | a": [0.95, 0.05, 0.05, 0.95]}


@pytest.mark.parametrize(
    ("factors", "complaint"),
    [
        ({"a": [0.5, 0.5], "b | c": [0.5] * 4}, "'child | parents'"),
        ({"a": [0.5, 0.5], "b | a": [0.5] * 2}, "2 rows of two"),
        ({"a": [0.5, 0.4], "b | a": [0.5] * 4}, "sum to one"),
        ({"a": [0.5, 0.5]}, "2 to 4 variables"),
        ({"a | b": [0.5] * 4, "b | a": [0.5] * 4}, "directed cycle"),
    ],
)
def test_what_is_refused(factors: dict[str, list[float]], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        StructureLearning(factors)


def test_a_copy_is_found_and_cannot_be_distinguished_from_its_reversal(run: Run) -> None:
    found = run(StructureLearning(COPY, [60], draws=5, steps=50))
    p = found["posterior"].sel(prior="one observation", N=60)
    assert p.sel(structure="a>b").item == pytest.approx(p.sel(structure="b>a").item)
    assert found["true_class_posterior"].values.min() > 0.99
    assert (found["greedy_gap"].values == 0).all()
    assert found["in_true_class"].values.sum() == 2


def test_predictions_are_worth_what_the_truth_allows(run: Run) -> None:
    found = run(StructureLearning(COPY, [400], draws=5, steps=200))
    joint = np.array([0.475, 0.025, 0.025, 0.475])
    entropy = -(joint * np.log(joint)).sum()
    for way in ("best", "true", "averaged", "sampled"):
        predicted = found["held_out"].sel(method=way).values
        assert predicted.max() < -entropy
        assert_allclose(predicted, -entropy, atol=0.03)
