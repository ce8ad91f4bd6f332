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


def test_the_posterior_of_coins_settles_on_the_one_that_is_tossed(run: Run) -> None:
    coins = ["coin 0.2", "coin 0.5", "coin 0.8"]
    found = run(ModelAveraging(models=coins, truths=["coin 0.2"], sizes=[50, 1], repetitions=5))
    assert (found["posterior"].sel(truth="coin 0.2", n=50, model="coin 0.2").values > 0.9).all()
    first = found["first_posterior"].sel(truth="coin 0.2", point=50).values
    np.testing.assert_array_equal(found["posterior"].sel(n=50, repetition=0).values[0], first)
    np.testing.assert_allclose(found["posterior"].values.sum(-1), 1)
    # Each prediction of a toss costs at least the entropy of the coin, up to the noise of the test.
    loss = found["expected_log_loss"].sel(truth="coin 0.2", model="coin 0.2").item
    assert loss == pytest.approx(-0.2 * np.log(0.2) - 0.8 * np.log(0.8), abs=0.06)
    averaged = found["expected_log_loss_averaged"].sel(n=50).values
    np.testing.assert_allclose(averaged, loss, atol=0.01)


def test_a_mixture_keeps_both_models_and_the_posterior_does_not(run: Run) -> None:
    found = run(ModelAveraging(truths=["both"], sizes=[400], repetitions=10))
    assert found["posterior"].values.max(-1).mean() > 0.95
    assert 0.3 < found["mixture_weight"].values.mean(2)[0, 0, 0] < 0.7
