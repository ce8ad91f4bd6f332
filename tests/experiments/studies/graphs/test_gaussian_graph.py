"""Study `gaussian_graph`: invalid settings, and a chain whose precision is known."""

from collections.abc import Callable

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
    ],
)
def test_invalid_matrices_are_refused(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        GaussianGraph(**changed)  # type: ignore[arg-type]


def test_a_random_walk_of_three_steps(run: Run) -> None:
    found = run(GaussianGraph())
    assert_allclose(found["inverse"].values[0], [[2, -1, 0], [-1, 2, -1], [0, -1, 1]], atol=1e-12)
    given = found["conditional"].values[0]
    assert given[0, 2] == pytest.approx(0, abs=1e-12)
    assert given[0, 1] == pytest.approx(1 / 3)  # the inverse of 2, -1; -1, 2
    assert_allclose(given.diagonal(), [1 / 2, 1 / 2, 1])
