"""Study `network_parameters`: invalid settings, and the tables that are coupled."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.network_parameters import NetworkParameters

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"factors": ["a | b", "b"]}, "parents before children"),
        ({"factors": ["a", "a, b"]}, "2 to 7 variables"),
        ({"factors": ["a"]}, "2 to 7 variables"),
        ({"hidden": ["Z"]}, "some of A, B"),
    ],
)
def test_what_is_refused(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        NetworkParameters(**changed)  # type: ignore[arg-type]


def test_a_hidden_middle_couples_what_it_touches(run: Run) -> None:
    # a -> h -> b, and c alone: a hidden h ties its own table to b's; a, which is seen, stays out.
    study = NetworkParameters(
        ["a", "h | a", "b | h", "c"], [0.0, 0.4], ["h"], points=60, iterations=5, draws=3
    )
    found = run(study)
    hidden = found["coupling"].sel(kind="hidden").values.max(0) > 1e-9
    assert hidden.tolist() == [
        [False, False, False, False],
        [False, False, True, False],
        [False, True, False, False],
        [False, False, False, False],
    ]
    missing = found["coupling"].sel(kind="missing").values.max(0) > 1e-9
    assert missing[:3, :3].sum() == 6
    assert not missing[3].any()  # nothing ties c to the others
    assert (np.diff(found["log_likelihood"].values) > -1e-9).all()
