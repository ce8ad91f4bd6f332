"""Study `associative_memory`: invalid settings, and one pattern that is always found."""

from collections.abc import Callable

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.associative_memory import AssociativeMemory

Run = Callable[..., Outcome]


def test_loads_come_in_their_order() -> None:
    with pytest.raises(InputError, match="not in their order"):
        AssociativeMemory(loads=[3, 2])


def test_one_pattern_is_always_found(run: Run) -> None:
    found = run(
        AssociativeMemory(
            size=12, patterns=1, hidden=0.3, draws=2, units=6, loads=[1], small_draws=3
        )
    )
    assert found["wrong"].sel(stage="final").values.max() == 0
    assert found["small_wrong"].values.max() == 0
    assert found["observed_energy"].values.max() < 0
