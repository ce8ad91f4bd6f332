"""Study `variational_limit`: invalid settings, and gaps that close."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.clustering.variational_limit import VariationalLimit

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "words"),
    [({"n": [6]}, "four points"), ({"centres": [[0.0]]}, "needs 2 numbers")],
)
def test_refused(knobs: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        VariationalLimit(**knobs)


def test_gaps_close_and_factors_narrow(run: Run) -> None:
    found = run(VariationalLimit(n=[20, 400], repetitions=2))
    for parameter in ("means", "covariances"):
        small, large = found["gap"].sel(parameter=parameter).values.mean(-1)
        assert large < small / 2
    small, large = np.moveaxis(found["width"].values.mean(-1), -1, 0)
    assert (large < small / 2).all()


def test_one_cluster_has_its_closed_form(run: Run) -> None:
    """With one component the mean is that of the points, a little drawn to the prior's."""
    found = run(VariationalLimit(centres=[[0.0, 3.0]], n=[10], repetitions=1))
    assert found["gap"].sel(parameter="responsibilities").values.max() == 0
    assert 0.1 < found["gap"].sel(parameter="means").item < 0.5  # 3 / 11 up to chance
    width = found["width"].sel(factor="precisions").item
    assert width == pytest.approx(np.sqrt(2 / 12))  # nu is that of the prior and ten points
