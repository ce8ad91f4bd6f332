"""Trees as knobs: three nodes, where everything is known."""

from collections.abc import Callable

from experiments.contract.outcome import Outcome
from experiments.studies.graphs.tree_beliefs import TreeBeliefs

Run = Callable[..., Outcome]


def test_small_trees(run: Run) -> None:
    found = run(TreeBeliefs(variables=4, states=2, draws=8))
    for name in ("root_error", "belief_error", "division_gap", "forward_backward_gap"):
        assert found[name].values.max() < 1e-12
    assert found["sibling_effect"].at(shape="chain").values.max() < 1e-12
    assert found["sibling_effect"].at(shape="tree").values.max() > 1e-3
    assert found["recipient_effect"].values.max() < 1e-12
    assert found["upward_error"].at(reading="the part below").values.max() < 1e-12
