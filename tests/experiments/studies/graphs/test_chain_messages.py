"""Study `chain_messages`: invalid settings, and a chain of three by hand."""

from collections.abc import Callable

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.chain_messages import ChainMessages

Run = Callable[..., Outcome]


@pytest.mark.parametrize("changed", [{"observed": [3]}, {"observed": [4, 3]}, {"asked": 3}])
def test_what_makes_no_sense_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(InputError, match="two nodes in turn"):
        ChainMessages(**changed)  # type: ignore[arg-type]


def test_a_chain_of_three(run: Run) -> None:
    found = run(ChainMessages([3], [2], counted=[4], draws=2))
    assert found["messages"].values.tolist() == [4]
    assert found["independences"].values.tolist() == [1]  # the ends given the middle
    assert found["repeated_messages"].values.tolist() == [0.5]
    for name in ("error", "pair_error", "clamped_error", "message_error", "separated_dependence"):
        assert found[name].values.max() < 1e-12
    assert found["linked_dependence"].values.min() > 1e-4
