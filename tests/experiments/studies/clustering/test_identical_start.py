"""Equal Bernoulli components: the fixed point of Exercise 9.13."""

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.clustering.identical_start import IdenticalStart


@pytest.mark.parametrize("weights", [[[0.5, 0.6]], [[0.5, 0.5], [1.0]], [[1.5, -0.5]]])
def test_weights_must_sum_to_one(weights: list[list[float]]) -> None:
    with pytest.raises(BadInput, match="sum to one"):
        IdenticalStart(weights=weights)


def test_equal_components_stop_at_the_average() -> None:
    study = IdenticalStart(n=100, variables=6, restarts=5)
    outcome = study.run(generator(study.name, 0))
    found, average = outcome.metrics, outcome.arrays["average"]
    for name in ("at_average_after_one", "second_iteration_changes_nothing", "weights_stay"):
        assert found[name] is True, name
    assert found["model_mean_is_average"] is True
    # All components equal: independent coins with the average as their bias.
    expected = 100 * (average * np.log(average) + (1 - average) * np.log1p(-average)).sum()
    assert outcome.arrays["identical"][0, 1] == pytest.approx(expected, rel=1e-10)
    assert found["random_starts_do_better"] is True
    assert list(study.draw(outcome)) == ["objective"]
