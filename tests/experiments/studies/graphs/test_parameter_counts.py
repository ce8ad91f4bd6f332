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
    study = ParameterCounts(
        ["joint", "second order", "field", "links"],
        [3, 4],
        [2],
        ["full", "principal components", "factors"],
        [3, 4],
        [0, 1, 5],
    )
    found = run(study)
    # 7, 15; three tables of one, two and four rows; pairs and nodes; pairs
    assert found["rank"].values[..., 0].tolist() == [[7, 15], [7, 11], [6, 10], [3, 6]]
    assert found["numbers"].values.tolist() == found["rank"].values.tolist()
    by_kind = found["covariance_rank"].values.tolist()
    assert by_kind[0] == [[6, 6, 6], [10, 10, 10]]
    assert by_kind[1] == [[1, 4, 6], [1, 5, 10]]  # at most a full covariance
    assert by_kind[2] == [[3, 6, 6], [4, 8, 10]]
