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
    [({"sizes": [6]}, "four points"), ({"centres": [[0.0]]}, "needs 2 numbers")],
)
def test_refused(knobs: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        VariationalLimit(**knobs)


def test_gaps_close_and_factors_narrow(run: Run) -> None:
    found = run(VariationalLimit(sizes=[20, 400], repetitions=2, draws=200))
    for name in ("mean_gap", "covariance_gap", "gaussian_gap", "mean_width", "mixing_width"):
        small, large = found[name].values.mean(-1)
        assert large < small / 2
    np.testing.assert_allclose(found["area"].values, 1, atol=0.01)
    off = np.abs(found["student_density"].values - found["drawn_density"].values)
    assert (off < 5 * found["drawn_error"].values).all()


def test_one_cluster_has_its_closed_form(run: Run) -> None:
    """With one component the mean is that of the points, a little drawn to the prior's."""
    found = run(VariationalLimit(centres=[[0.0, 3.0]], sizes=[10], repetitions=1))
    assert found["responsibility_gap"].values.max() == 0
    assert 0.1 < found["mean_gap"].values[0, 0] < 0.5  # 3 / 11 up to chance
