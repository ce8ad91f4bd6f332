"""Study `semirings`: invalid settings, and two variables."""

from collections.abc import Callable

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.semirings import Semirings

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"asked": "Q"}, "study.asked=Q; allowed: C, D"),
        ({"factors": [f"a{k}" for k in range(11)], "asked": "a1"}, "allowed: 10"),
    ],
)
def test_what_makes_no_sense_is_refused(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Semirings(**changed)  # type: ignore[arg-type]


def test_two_variables(run: Run) -> None:
    found = run(Semirings(["a, b", "b"], "b", 2, draws=20))
    assert found["error"].values.max() < 1e-12
    assert found["traced_gap"].values.max() == 0
    assert found["axiom_error"].values.max() < 1e-12
    assert found["negative_error"].item == pytest.approx(4)  # -2 of -2 and 0: 4, and 0
    assert {True, False} == set(found["satisfiable"].values.tolist())
