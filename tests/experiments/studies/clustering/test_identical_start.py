"""Equal Bernoulli components: the fixed point of Exercise 9.13."""

from collections.abc import Callable

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.studies.clustering.identical_start import IdenticalStart

Run = Callable[..., Outcome]


@pytest.mark.parametrize("weights", [[[0.5, 0.6]], [[0.5, 0.5], [1.0]], [[1.5, -0.5]]])
def test_weights_must_sum_to_one(weights: list[list[float]]) -> None:
    with pytest.raises(BadInput, match="sum to one"):
        IdenticalStart(weights=weights)


def test_equal_components_stop_at_the_average(run: Run) -> None:
    outcome = run(IdenticalStart(n=100, variables=6, restarts=5))
    average, away = outcome["average"].values, outcome["distance_to_average"]
    assert away.at(iteration=0).values.min() > 0.01
    assert away.at(iteration=1).values.max() < 1e-12
    assert away.at(iteration=2).values.max() < 1e-12
    assert outcome["change_of_weights"].at(iteration=2).values.max() < 1e-12
    assert outcome["model_mean_error"].values.max() < 1e-8
    # All components equal: independent coins with the average as their bias.
    expected = 100 * (average * np.log(average) + (1 - average) * np.log1p(-average)).sum()
    assert outcome["log_likelihood"].at(run=1, iteration=1).item == pytest.approx(expected)
    assert outcome["random_final_log_likelihood"].values.min() > expected
