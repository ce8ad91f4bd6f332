"""Study `relevance_classifier`: both machines learn corners, and one keeps fewer points."""

from collections.abc import Callable

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.classification.relevance_classifier import RelevanceClassifier

Run = Callable[..., Outcome]


def test_both_machines_learn_the_corners(run: Run) -> None:
    found = run(RelevanceClassifier(n=24, spread=0.3, repetitions=1))
    assert found["test_error"].values.max() < 0.1
    assert found["vectors"].values.sum(1).tolist() == [
        found["relevant"].values[0],
        found["support"].values[0],
    ]
    assert (found["relevant"].values < 24).all()
    assert found["plane_output"].values.shape == (2, 61, 61)
