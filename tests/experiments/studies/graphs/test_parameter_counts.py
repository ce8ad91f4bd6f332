"""Study `parameter_counts`: invalid settings, and two known counts."""

from collections.abc import Callable

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.parameter_counts import ParameterCounts

Run = Callable[..., Outcome]


def test_tables_that_are_too_large_are_refused() -> None:
    with pytest.raises(InputError, match="tables of 16384; allowed: 1024"):
        ParameterCounts(variables=[7], states=[4])


def test_counts_that_are_known(run: Run) -> None:
    found = run(ParameterCounts(["joint", "second order", "field", "links"], [3, 4], [2]))
    # 7, 15; three tables of one, two and four rows; pairs and nodes; pairs
    assert found["rank"].values[..., 0].tolist() == [[7, 15], [7, 11], [6, 10], [3, 6]]
