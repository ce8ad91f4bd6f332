"""Study `factor_propagation`: invalid settings, a tree, and a loop of two factors by hand."""

from collections.abc import Callable

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.factor_propagation import FactorPropagation

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"factors": ["a, b, c"], "closing": []}, "more than two"),
        ({"factors": ["a, b", "b, c", "c, a"], "closing": []}, "a loop or falls apart"),
        ({"closing": ["x1, y"]}, "study.closing"),
        ({"refined": "x1, x3"}, "study.refined=x1, x3"),
    ],
)
def test_what_makes_no_sense_is_refused(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        FactorPropagation(**changed)  # type: ignore[arg-type]


def test_the_same_pair_twice(run: Run) -> None:
    study = FactorPropagation(
        ["a, b"], ["a, b"], refined="a, b", spreads=[0.5], draws=4, compared=2
    )
    found = run(study)
    assert found["loops"].values.tolist() == [0, 1]
    assert found["merged_error"].values.max() < 1e-12
    gap = abs(found["belief"].values - found["exact_belief"].values).max((1, 2, 3, 4))
    assert gap[0] < 1e-12 < 1e-4 < gap[1]
    for name in ("refined_gap", "first_formula_gap", "second_formula_gap", "two_pass_error"):
        assert found[name].values.max() < 1e-12
    assert found["divergence_gap"].values.max() < 1e-5
