"""Random walks: knob rules, and steps with the variance that was asked for."""

import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.sampling.random_walks import RandomWalks


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"variances": [1.0]}, "as many of each"),
        ({"starts": [[0.0], [1.0]]}, "points in the plane"),
        ({"variances": [1.0, 0.0]}, "study.variances"),
        ({"samples": 10_000, "repetitions": 100_000}, "allowed: <= 5000000"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        RandomWalks(**knobs)  # type: ignore[arg-type]


def test_squared_steps_and_distances() -> None:
    study = RandomWalks(variances=[0.1, 2.0], samples=9, repetitions=4000)
    outcome = study.run(generator(study.name, 0))
    found = outcome.metrics
    for variance in (0.1, 2.0):  # two directions, eight steps
        assert_allclose(found[f"mean_squared_step_{variance:g}"], 2 * variance, rtol=0.03)
        assert_allclose(found[f"mean_squared_distance_{variance:g}"], 16 * variance, rtol=0.06)
    assert found["smaller_variance_shorter_steps"] is True
    assert outcome.arrays["paths"].shape == (9, 2, 2)
    assert outcome.arrays["paths"][0].tolist() == [[0, 0], [2, 2]]
    with style("screen"):
        assert list(study.draw(outcome)) == ["walks"]
