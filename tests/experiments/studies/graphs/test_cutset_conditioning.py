"""Study `cutset_conditioning`: invalid settings, and a ring."""

from collections.abc import Callable

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.cutset_conditioning import CutsetConditioning

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"cutsets": ["Q"]}, "study.cutsets"),
        ({"observed": ["Q"]}, "study.observed"),
        ({"cutsets": ["A"]}, "that leaves no loops"),
        ({"factors": [f"a{k}, a{k + 1}" for k in range(8)], "cutsets": ["a1"]}, "allowed: 8"),
    ],
)
def test_what_makes_no_sense_is_refused(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        CutsetConditioning(**changed)  # type: ignore[arg-type]


def test_a_ring_is_cut_anywhere(run: Run) -> None:
    ring = ["a, b", "b, c", "c, d", "d, a"]
    found = run(CutsetConditioning(ring, ["a", "c"], ["b"], states=2, draws=3))
    assert found["loops"].values.tolist() == [0, 0]
    assert found["runs"].values.tolist() == [[2] * 3] * 2
    assert found["error"].values.max() < 1e-12 < found["unweighted_error"].values.max()
