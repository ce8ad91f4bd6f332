"""Study `tree_beliefs`: three nodes with known results."""

from collections.abc import Callable

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.tree_beliefs import TreeBeliefs

Run = Callable[..., Outcome]


def test_small_trees(run: Run) -> None:
    found = run(TreeBeliefs(variables=4, states=2, draws=8))
    for name in ("root_error", "belief_error", "division_gap", "forward_backward_gap"):
        assert found[name].values.max() < 1e-12
    assert found["sibling_effect"].sel(shape="chain").values.max() < 1e-12
    assert found["sibling_effect"].sel(shape="tree").values.max() > 1e-3
    assert found["recipient_effect"].values.max() < 1e-12
    assert found["upward_error"].sel(reading="the part below").values.max() < 1e-12
