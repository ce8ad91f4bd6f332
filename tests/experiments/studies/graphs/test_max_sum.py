"""Study `max_sum`: invalid settings, and a pair of variables by hand."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.max_sum import MaxSum

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"factors": ["a, b", "b, c", "c, a"]}, "a loop or falls apart"),
        ({"factors": [f"a{k}, a{k + 1}" for k in range(8)]}, "allowed: 8"),
    ],
)
def test_invalid_settings_are_refused(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        MaxSum(**changed)  # type: ignore[arg-type]


def test_a_table_of_equal_entries_has_as_many_modes_as_entries(run: Run) -> None:
    found = run(MaxSum(["a, b"], states=3, levels=1, long=5, samples=500, draws=3))
    assert found["modes"].values.tolist() == found["traced_modes"].values.tolist() == [9] * 3
    assert found["max_marginal"].values == pytest.approx(1 / 9)
    assert found["gap"].values == pytest.approx(0)
    # a table times one, then eight maxima; by messages sums to a root and two further maxima
    assert found["operations"].values.tolist() == [9 + 8, 9 + 6 + 3 + 2]
    assert found["long_sum"].item == pytest.approx(np.log(found["long_product"].item))
    assert found["best_path"].values.shape == (9, 2)


def test_without_ties_there_is_one_mode(run: Run) -> None:
    found = run(MaxSum([], 4, 2, 0, long=5, draws=5))
    assert found["modes"].values.tolist() == [1] * 5
    assert found["gap"].sel(choice="node by node").values.max() < 1e-12
    assert not {"sample_p", "predecessor"} & set(found)
