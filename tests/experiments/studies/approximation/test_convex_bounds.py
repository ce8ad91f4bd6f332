"""Study `convex_bounds`: settings, and bounds on both sides of the sigmoid."""

from collections.abc import Callable

import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.convex_bounds import ConvexBounds

Run = Callable[..., Outcome]


def test_the_smallest_place_is_first() -> None:
    with pytest.raises(InputError, match="below study"):
        ConvexBounds(low=3.0, high=1.0)


def test_both_sides_of_the_sigmoid(run: Run) -> None:
    found = run(ConvexBounds(["above the sigmoid", "below the sigmoid"], [0.5, 2.5], -6, 6))
    value, tangent, height = (found[name].values for name in ("value", "tangent", "height"))
    assert (tangent[0] >= value[0] - 1e-12).all()
    assert (tangent[1] <= value[1] + 1e-12).all()
    at = [list(found["value"].coord("x")).index(xi) for xi in (0.5, 2.5)]
    for k, i in enumerate(at):
        assert_allclose(tangent[:, k, i], value[:, i])
        assert height[0, k].argmin() == i
