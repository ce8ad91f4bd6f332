"""Study `markov_logic`: parsing of rules, invalid settings, and one person by hand."""

from collections.abc import Callable
from math import exp

import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.markov_logic import MarkovLogic, parsed
from bythebook.models.graphs.logic import Atom, Rule

Run = Callable[..., Outcome]


def test_rules_are_read() -> None:
    rule = Rule((Atom("P", ("x",)), Atom("Q", ("x", "y"))), Atom("R", ("y",)))
    assert parsed("P(x) and Q(x, y) => R(y)") == rule
    assert parsed("P(x) and => R(y)") is None
    assert parsed("P(x)") is None


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"rules": {"r": "P(x) -> Q(x)"}, "weights": [1.0]}, "allowed: 'P"),
        ({"weights": [1.0]}, "2 numbers"),
        ({"constants": ["A", "B", "C", "D"]}, "24 atoms"),
    ],
)
def test_what_is_refused(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        MarkovLogic(**changed)  # type: ignore[arg-type]


def test_one_rule_about_one_person(run: Run) -> None:
    # Worlds 00, 01, 11 keep Sm => Ca, 10 does not.
    study = MarkovLogic({"r": "Sm(x) => Ca(x)"}, [1.5], ["A"], [0.0, 1.5])
    found, Z = run(study), 3 * exp(1.5) + 1
    assert_allclose(found["marginal"].values, [(exp(1.5) + 1) / Z, 2 * exp(1.5) / Z])
    assert_allclose(found["satisfied"].values, [[0.75, 3 * exp(1.5) / Z]])
    assert_allclose(found["probability_of_pair"].values[0, 1], exp(1.5) / Z)
    assert found["rules_are_acyclic"].item


def test_friends_make_a_cycle(run: Run) -> None:
    found = run(MarkovLogic())
    assert not found["rules_are_acyclic"].item
    assert found["nodes_without_equals"].item == 6
    assert found["interaction_order"].values.tolist() == [2, 3]
    assert found["link_count"].item == 9
