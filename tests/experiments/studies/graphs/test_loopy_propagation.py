"""Study `loopy_propagation`: invalid settings, and shapes whose answers are known."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.loopy_propagation import LoopyPropagation

Run = Callable[..., Outcome]


def test_a_grid_is_square() -> None:
    with pytest.raises(InputError, match="allowed: 4, 9"):
        LoopyPropagation(variables=6)


@pytest.mark.parametrize(
    ("shape", "variables", "links", "span"),
    [("ring", 5, 5, 2), ("grid", 9, 12, 4), ("complete", 4, 6, 1)],
)
def test_shapes(run: Run, shape: str, variables: int, links: int, span: int) -> None:
    found = run(LoopyPropagation(shape, variables, [0.2], draws=2, rounds=50, pending=100))
    assert found["links"].item == links
    assert found["diameter"].values.tolist() == [span, span]
    assert found["still_pending"].values.all()
    assert np.abs(found["belief"].values[0] - found["exact_belief"].values).max() < 0.05


def test_without_links_every_belief_is_a_node_s_own(run: Run) -> None:
    found = run(LoopyPropagation("ring", 4, [0.0], draws=3, rounds=5))
    assert found["first_right"].values.max() == 0
    assert found["change"].values.max() < 1e-15


def test_a_tree_is_right_in_the_end_and_turns_count(run: Run) -> None:
    found = run(LoopyPropagation("tree", 5, [1.0], draws=6, rounds=6))
    assert found["first_right"].values.ravel().tolist() == found["diameter"].values.tolist()
    sweeps, blocks = found["turn_error"].values[0]
    assert sweeps.max() < 1e-10 < blocks.max()
