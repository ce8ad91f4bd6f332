"""Study `junction_tree`: invalid settings, and three nodes."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.junction_tree import JunctionTree

Run = Callable[..., Outcome]


def test_too_many_arrows_are_refused() -> None:
    with pytest.raises(InputError, match="allowed: up to 6"):
        JunctionTree(variables=4, links=7)


def test_two_arrows_between_three_nodes(run: Run) -> None:
    """A head-to-head node marries its parents; of other graphs the tree has two cliques."""
    found = run(JunctionTree(variables=3, links=2, cycles=[4, 5], cliques=[2, 3], draws=12))
    cliques, statements = found["cliques"].values, found["statements"].values
    assert set(cliques.tolist()) == {1, 2}
    assert (statements[2] == cliques - 1).all()  # a and c given b, or nothing
    assert statements[0].tolist() == [1] * 12
    np.testing.assert_allclose(*found["marginal"].values[:2], atol=1e-12)
    np.testing.assert_allclose(*found["marginal"].values[1:], atol=1e-12)
    assert found["chordal_by_fours"].values.tolist() == [True, False]
    assert (found["trees"].values == 1).all()
    assert found["disagreement"].values.tolist() == [0.0] * 12
