"""Study `gaussian_propagation`: invalid settings, and known results for rings."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.gaussian_propagation import GaussianPropagation

Run = Callable[..., Outcome]


def test_a_grid_is_square() -> None:
    with pytest.raises(InputError, match="a square number"):
        GaussianPropagation(variables=6)


def test_trees_are_exact_and_loops_only_in_their_means(run: Run) -> None:
    found = run(GaussianPropagation(["tree", "ring", "complete"], variables=5, draws=10))
    assert found["change"].values.max() < 1e-12
    np.testing.assert_allclose(found["belief_mean"].values, found["exact_mean"].values, atol=1e-10)
    gap = found["belief_variance"].values - found["exact_variance"].values
    assert abs(gap[0]).max() < 1e-12 < abs(gap[1:]).max(-1).min()
    assert gap[1:, 1].max() < 0  # links that agree
