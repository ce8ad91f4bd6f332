"""Study `convex_bounds`: recorded quantities, with and without the sigmoid."""

from collections.abc import Callable

import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.convex_bounds import ConvexBounds

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("stretches", "complaint"),
    [
        ([[-1.0, 4.0], [0.1, 5.0]], "two ends for each"),
        ([[1.0]], "two ends for each"),
        ([[4.0, 1.0]], "lower end first"),
        ([[0.0, 4.0]], "above 0"),
    ],
)
def test_what_makes_no_sense(stretches: list[list[float]], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        ConvexBounds(["ln x"], stretches)


def test_tangents(run: Run) -> None:
    found = run(ConvexBounds(["exp(-x)", "ln x"], [[-1.0, 4.0], [0.1, 5.0]], [0.5, 1.0]))
    assert found["slack"].values.min() > -1e-12
    assert found["other_slack"].values.min() > 0
    assert_allclose(found["best_slope"].values[1], [2, 1], atol=1e-4)
    assert_allclose(found["recovered"].values, found["function_value"].values, atol=1e-6)
    assert "gaussian_slack" not in found


def test_the_sigmoid(run: Run) -> None:
    found = run(ConvexBounds(["ln sigmoid"], [[-6.0, 6.0]], [2.5], [0.3]))
    printed, right = found["gaussian_slack"].values
    assert printed.min() < -1
    assert right.min() > -1e-12
    assert found["exponential_slack"].values.min() > -1e-12
    first, second = abs(found["taylor_gap"].values).max((1, 2))
    assert first < 1e-9 < second
