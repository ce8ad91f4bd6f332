"""Study `weighted_coins`: invalid settings, and a sum that leaves one setting."""

from collections.abc import Callable

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.weighted_coins import WeightedCoins

Run = Callable[..., Outcome]


def test_a_sum_that_cannot_be_reached_is_refused() -> None:
    with pytest.raises(InputError, match="1 to 6, the sum"):
        WeightedCoins(coins=3, weights=[1, 2, 3], total=7)


def test_with_all_heads_nothing_is_left_to_depend(run: Run) -> None:
    found = run(WeightedCoins(coins=4, weights=[1, 2], total=6, draws=0))
    assert found["log2_ways"].values.tolist() == [0]
    assert found["weight_posterior"].sel(weights="cycle").values[:2].tolist() == [1, 1]
    assert found["min_dependence"].values.tolist() == [0]


def test_two_ways_by_hand(run: Run) -> None:
    # Weights 1, 2, 1, 2 and a sum of 3: one of each, four settings.
    found = run(WeightedCoins(coins=4, weights=[1, 2], total=3, draws=2))
    assert found["log2_ways"].sel(weights="cycle").item == 2
    assert found["weight_posterior"].sel(weights="cycle", weight=1).item == 0.5
    assert found["min_dependence"].sel(weights="cycle").item == 0  # 1 and 2 are independent
