"""Study `gaussian_propagation`: invalid settings, and known results for rings."""

from collections.abc import Callable

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.gaussian_propagation import GaussianPropagation

Run = Callable[..., Outcome]


def test_a_grid_is_square() -> None:
    with pytest.raises(InputError, match="a square number"):
        GaussianPropagation(variables=6)


def test_trees_are_exact_and_loops_only_in_their_means(run: Run) -> None:
    found = run(GaussianPropagation(["tree", "ring", "complete"], 5, draws=10))
    assert found["change"].sel(form="derived").values.max() < 1e-12
    assert found["mean_error"].sel(form="derived").values.max() < 1e-10
    off = abs(found["variance"].sel(form="derived").values - found["exact_variance"].values)
    assert off[0].max() < 1e-12 < off[1:].max(-1).min()
    assert found["mean_error"].sel(shape="tree", form="printed").values.max() > 0.01
