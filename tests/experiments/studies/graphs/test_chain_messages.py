"""Study `chain_messages`: a chain of three and one of four by hand."""

from collections.abc import Callable

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.chain_messages import ChainMessages


def test_small_chains(run: Callable[..., Outcome]) -> None:
    found = run(ChainMessages([3, 4], [4]))
    assert found["statements"].values[:, 0].tolist() == [1] * 3  # the ends given the middle
    assert found["shared_messages"].values.tolist() == [1 / 2, 2 / 3]
    assert found["operations"].sel(way="one node").values.tolist() == [16, 24]
    assert found["operations_by_states"].sel(message_way="one node").values.tolist() == [96]
