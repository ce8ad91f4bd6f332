"""Memories as knobs: what is refused, and one pattern that is always found."""

from collections.abc import Callable

import pytest

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.studies.graphs.associative_memory import AssociativeMemory

Run = Callable[..., Outcome]


def test_loads_come_in_their_order() -> None:
    with pytest.raises(BadInput, match="not in their order"):
        AssociativeMemory(loads=[3, 2])


def test_one_pattern_is_always_found(run: Run) -> None:
    found = run(
        AssociativeMemory(
            size=12, patterns=1, hidden=0.3, draws=2, units=6, loads=[1], small_draws=3
        )
    )
    assert found["wrong"].at(stage="final").values.max() == 0
    assert found["small_wrong"].values.max() == 0
    assert found["observed_energy"].values.max() < 0
    assert found["rule_disagrees"].at(form="corrected").values.max() == 0
    assert found["rule_disagrees"].at(form="as printed").values.min() > 0
