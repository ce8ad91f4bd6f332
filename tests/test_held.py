"""What claims hold: a quantity that could be anything is found, one that is compared is not."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tools import held

from experiments.contract.claims import Claim
from experiments.contract.outcome import Outcome, Quantity, axis

PLACE = axis("place", 3)
OUTCOME = Outcome(stated=2.0, checked=1e-12, curve=PLACE.of([1.0, 2.0, 4.0]), free=7.0, word="yes")
CLAIMS = [
    Claim(holds="abs(stated - 2) <= 0.05", says="it is two"),
    Claim(holds="checked <= 1e-9", says="both sides agree", origin="derived", because="algebra"),
    Claim(holds="curve[0] < curve[2]", says="it rises", origin="derived", because="a sum"),
    Claim(holds="free > -inf", says="it is a number", by="construction"),
]


@dataclass
class Judged:
    """As much of a job as judging asks for."""

    claims: Any
    data: Any
    grade: str = "original"


def test_what_no_claim_compares_is_held_by_nothing() -> None:
    job: Any = Judged(CLAIMS, {})
    found = {one.name: held.KINDS[one.by] for one in held.held(job, OUTCOME)}
    assert found == {
        "stated": "a printed claim",
        "checked": "derived claims only",
        "curve": "derived claims only",
        "free": "nothing",
    }


def test_changes_are_changes_and_keep_the_axes() -> None:
    quantity = PLACE.of([1.0, 2.0, 4.0])
    others = list(held.changes(quantity))
    assert len(others) == 4  # larger, negative, shifted, turned round
    assert all(other.axes == quantity.axes for other in others)
    assert not any(np.array_equal(other.values, quantity.values) for other in others)
    np.testing.assert_array_equal(others[-1].values, [4.0, 2.0, 1.0])
    assert list(held.changes(Quantity("yes"))) == []


def test_a_study_is_held_by_the_best_of_its_results(monkeypatch: pytest.MonkeyPatch) -> None:
    def job(name: str) -> Any:
        claims = CLAIMS if name == "second" else CLAIMS[1:]
        return SimpleNamespace(claims=claims, data={}, grade="original", study=study)

    study = SimpleNamespace(name="toy")
    store: Any = SimpleNamespace(
        latest=lambda name: None if name == "new" else SimpleNamespace(outcome=OUTCOME)
    )
    monkeypatch.setattr(held, "experiment_job", job)
    found = held.by_study(["first", "second", "new"], store)
    assert found["toy", "stated"] == (2, "second")
    assert found["toy", "free"] == (0, "first")
