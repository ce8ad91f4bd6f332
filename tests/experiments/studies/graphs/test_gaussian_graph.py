"""Study `gaussian_graph`: invalid settings, and a chain whose precision is known."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.gaussian_graph import GaussianGraph

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"matrices": {"a": [1.0, 0.0, 1.0]}}, "one square number"),
        ({"matrices": {"a": [1.0], "b": [1.0, 0.0, 0.0, 1.0]}}, "one square number"),
        ({"matrices": {"a": [1.0, 0.5, 0.4, 1.0]}}, "symmetric and positive definite"),
        ({"matrices": {"a": [1.0, 2.0, 2.0, 1.0]}}, "symmetric and positive definite"),
        ({"arrows": ["2 -> 1"]}, "from lower to higher"),
        ({"arrows": ["a -> b"]}, "from lower to higher"),
    ],
)
def test_what_makes_no_sense_is_refused(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        GaussianGraph(**changed)  # type: ignore[arg-type]


def test_a_random_walk_of_three_steps(run: Run) -> None:
    found = run(GaussianGraph(arrows=["1 -> 2", "1 -> 3"], draws=4))
    assert_allclose(found["inverse"].values[0], [[2, -1, 0], [-1, 2, -1], [0, -1, 1]], atol=1e-12)
    given = found["conditional"].values[0]
    assert given[0, 2] == pytest.approx(0, abs=1e-12)
    assert given[0, 1] == pytest.approx(1 / 3)  # the inverse of 2, -1; -1, 2
    assert np.isnan(given[0, 0])
    w, v = found["w"].values, found["v"].values
    assert_allclose(found["covariance"].values[:, 1, 2], w[:, 1, 0] * w[:, 2, 0] * v[:, 0])
    assert_allclose(found["covariance"].values, found["covariance_by_matrix"].values)
    assert_allclose(found["expected"].values, found["expected_by_matrix"].values)
