"""Study `model_averaging`: invalid settings, and coins by counting."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.probability.model_averaging import ModelAveraging

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"models": ["gaussians", "coin 1.5"]}, "chance of a 1"),
        ({"models": ["gaussians"]}, "two or more"),
        ({"truths": ["coin 0.1"]}, "some of study.models"),
    ],
)
def test_refused(knobs: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        ModelAveraging(**knobs)


def test_coins_are_counted(run: Run) -> None:
    coins = ["coin 0.2", "coin 0.5", "coin 0.8"]
    found = run(ModelAveraging(models=coins, truths=["coin 0.2"], sizes=[1, 50], sets=5))
    np.testing.assert_allclose(found["posterior"].values[0], found["counted_posterior"].values)
    np.testing.assert_allclose(found["predictive"].values, found["counted_predictive"].values)
    assert found["regret"].values.max() <= np.log(3)
    assert (found["posterior"].values[0, 1, :, 0] > 0.9).all()


def test_a_mixture_keeps_both_models_and_the_posterior_does_not(run: Run) -> None:
    found = run(ModelAveraging(truths=["both"], sizes=[400], sets=10))
    assert found["posterior"].values.max(-1).mean() > 0.95
    assert 0.3 < found["mixture_weight"].values.mean(2)[0, 0, 0] < 0.7
