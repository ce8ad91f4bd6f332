"""Study `message_passing`: invalid settings, and a chain of three."""

from collections.abc import Callable

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.message_passing import MessagePassing

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"root": "y"}, "study.root: y; allowed: x1, x2, x3, x4"),
        ({"observed": ["y"]}, "study.observed: y"),
        ({"factors": ["a, b", "b, c", "c, a"], "root": "a"}, "6 links between 6 nodes"),
        ({"factors": [f"a{k}, a{k + 1}" for k in range(9)], "root": "a1"}, "allowed: 9"),
    ],
)
def test_what_makes_no_sense_is_refused(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        MessagePassing(**changed)  # type: ignore[arg-type]


def test_a_chain_of_three(run: Run) -> None:
    found = run(MessagePassing(["a, b", "b, c"], root="c", observed=["a"], draws=4))
    assert found["inward"].values.tolist() == ["a -> fa", "fa -> b", "b -> fb", "fb -> c"]
    assert found["outward"].values.tolist() == ["c -> fb", "fb -> b", "b -> fa", "fa -> a"]
    assert found["leaf"].values.tolist() == ["a"]
    assert found["links"].values.tolist() == [5] * 4  # the evidence is a factor too
    for name in ("error", "factor_error", "link_error", "clamped_error", "serial_error"):
        assert found[name].values.max() < 1e-12
