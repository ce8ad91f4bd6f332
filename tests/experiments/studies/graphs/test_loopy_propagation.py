"""Study `loopy_propagation`: invalid settings, and shapes whose answers are known."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.loopy_propagation import LoopyPropagation

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"variables": 6}, "allowed: 4, 9"),
        ({"graphs": ["star"]}, "study.graphs: star; allowed: tree"),
        ({"graphs": ["a-b, b"]}, "or links such as a-b"),
        ({"graphs": ["a-b, b-c", "tree"]}, "equally many nodes"),
        ({"graphs": [", ".join(f"a{k}-a{k + 1}" for k in range(12))]}, "allowed: 12"),
    ],
)
def test_invalid_settings_are_refused(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        LoopyPropagation(**changed)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("graph", "variables", "span"),
    [("ring", 5, 2), ("grid", 9, 4), ("complete", 4, 1), ("a-b, b-c, c-d, d-a", 9, 2)],
)
def test_shapes(run: Run, graph: str, variables: int, span: int) -> None:
    found = run(LoopyPropagation([graph], variables, [0.2], draws=2, rounds=50, pending=100))
    assert found["diameter"].values.tolist() == [[span, span]]
    assert found["still_pending"].values.all()
    belief, right = found["belief"].values[:, :, 0], found["exact_belief"].values
    assert np.abs(belief - right).max() < 0.05


def test_two_graphs_and_one_of_them_a_tree(run: Run) -> None:
    found = run(LoopyPropagation(["a-b, b-c", "a-b, b-c, c-a"], couplings=[1.0], draws=6))
    error = np.abs(found["belief"].values[:, :, 0] - found["exact_belief"].values)
    assert error[0].max() < 1e-12 < 1e-4 < error[1].max()


def test_without_links_every_belief_is_a_node_s_own(run: Run) -> None:
    found = run(LoopyPropagation(["ring"], 4, [0.0], draws=3, rounds=5))
    assert found["first_right"].values.max() == 0
    assert found["change"].values.max() < 1e-15


def test_a_tree_is_right_in_the_end_and_turns_count(run: Run) -> None:
    found = run(LoopyPropagation(["tree"], 5, [1.0], draws=6, rounds=6))
    assert found["first_right"].values.ravel().tolist() == found["diameter"].values[0].tolist()
    sweeps, blocks = found["turn_error"].values[0, 0]
    assert sweeps.max() < 1e-10 < blocks.max()
