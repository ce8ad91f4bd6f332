"""Study `elimination`: invalid settings, and a chain counted by hand."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.elimination import Elimination

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"factors": ["a, a"]}, "each name once"),
        ({"factors": ["a, b | c"]}, "each name once"),
        ({"orders": ["C D", "C I"]}, "those of the first"),
        ({"orders": ["C X"]}, "study.orders: X; allowed: C, D, G"),
        ({"observed": ["C"]}, "an observed variable is summed out"),
        ({"orders": ["C D I H G S L J"]}, "no variable is left"),
        ({"factors": [f"a{k}" for k in range(13)], "orders": ["a1"]}, "allowed: 12"),
    ],
)
def test_invalid_settings_are_refused(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Elimination(**changed)  # type: ignore[arg-type]


def test_a_chain_by_hand(run: Run) -> None:
    """p(c) of a -> b -> c: two matrices times vectors, in the good order and in the bad."""
    found = run(Elimination(["a", "b | a", "c | b"], ["a b", "b a"], counted=[10]))
    assert found["created_scope"].values.tolist() == [["b", "c"], ["a c", "c"]]
    assert found["operations"].values.ravel().tolist() == [2 * (100 + 90), 1000 + 900 + 100 + 90]
    assert found["fill_in"].values.tolist() == [["", ""], ["a-c", ""]]
    assert found["width"].values.tolist() == [1, 2]
    assert found["clique"].values.tolist() == ["a b, b c", "a b c"]
    assert found["unused_cliques"].values.tolist() == [0, 0]
    assert found["treewidth"].item == found["greedy_width"].item == 1
    np.testing.assert_allclose(*found["answer"].values)
    np.testing.assert_allclose(found["answer"].values.sum(-1), 1)
    assert found["married"].item == ""
    assert found["statements"].values.tolist() == [1, 1, 1]  # a and c given b
