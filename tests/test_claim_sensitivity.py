"""Claim sensitivity: quantities that a claim tests are distinguished from untested ones."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.outcome import Outcome, Quantity, axis
from tools import claim_sensitivity

INDEX = axis("index", 3)
OUTCOME = Outcome(printed=2.0, checked=1e-12, curve=INDEX.of([1.0, 2.0, 4.0]), free=7.0, word="yes")
CLAIMS = [
    Claim(holds="abs(printed - 2) <= 0.05", says="it is two"),
    Claim(holds="checked <= 1e-9", says="both sides agree", origin="derived", because="algebra"),
    Claim(holds="curve[0] < curve[2]", says="it rises", origin="derived", because="a sum"),
    Claim(holds="free > -inf", says="it is a number", by="construction"),
]


@dataclass
class FakeJob:
    """The attributes of a job that judging needs."""

    claims: Any
    data: Any
    data_grade: str = "original"


def test_each_quantity_gets_the_level_of_its_strongest_claim() -> None:
    job: Any = FakeJob(CLAIMS, {})
    levels = {
        name: claim_sensitivity.LEVELS[level]
        for name, level in claim_sensitivity.sensitivities(job, OUTCOME)
    }
    assert levels == {
        "printed": "a printed claim",
        "checked": "derived checks only",
        "curve": "derived checks only",
        "free": "no claim",
    }


def test_changes_differ_and_keep_the_axes() -> None:
    quantity = INDEX.of([1.0, 2.0, 4.0])
    others = list(claim_sensitivity.changes(quantity))
    assert len(others) == 4  # larger, negative, shifted, reversed
    assert all(other.axes == quantity.axes for other in others)
    assert not any(np.array_equal(other.values, quantity.values) for other in others)
    np.testing.assert_array_equal(others[-1].values, [4.0, 2.0, 1.0])
    assert list(claim_sensitivity.changes(Quantity("yes"))) == []


def test_a_study_gets_the_highest_level_of_its_results(monkeypatch: pytest.MonkeyPatch) -> None:
    def job(name: str) -> Any:
        claims = CLAIMS if name == "second" else CLAIMS[1:]
        return SimpleNamespace(claims=claims, data={}, data_grade="original", study=study)

    study = SimpleNamespace(name="toy")
    store: Any = SimpleNamespace(
        latest_run=lambda name: None if name == "new" else SimpleNamespace(outcome=OUTCOME)
    )
    monkeypatch.setattr(claim_sensitivity, "load_job", job)
    best = claim_sensitivity.by_study(["first", "second", "new"], store)
    assert best["toy", "printed"] == (2, "second")
    assert best["toy", "free"] == (0, "first")
