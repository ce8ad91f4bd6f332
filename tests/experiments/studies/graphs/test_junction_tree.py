"""Study `junction_tree`: invalid settings, and three nodes."""

from collections.abc import Callable

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.junction_tree import JunctionTree

Run = Callable[..., Outcome]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InputError, match="allowed: up to 6"):
        JunctionTree(variables=4, links=7)


def test_two_arrows_between_three_nodes(run: Run) -> None:
    """A head-to-head node marries its parents; of other graphs the tree has two cliques."""
    found = run(JunctionTree(variables=3, links=2, cycles=[4, 5], cliques=[2, 3], draws=12))
    cliques, kept = found["cliques"].values, found["independences_kept"].values
    assert set(cliques.tolist()) == {1, 2}
    assert (kept == cliques - 1).all()  # a and c given b, or nothing
    assert found["independences"].values.tolist() == [1] * 12
    assert found["error"].values.max() < 1e-12
    assert found["triangulated_by_fours"].values.tolist() == [True, False]
    assert found["table_size"].values.tolist() == [4, 8]
