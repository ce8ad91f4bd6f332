"""Runs as rows: filtered by any expression, sorted by anything, columns that tell them apart."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.contract.errors import BadInput
from experiments.records import tags
from experiments.records.listing import Row, columns, ordered, row, rows, where
from experiments.records.record import Record
from experiments.records.told import Told


def made(run: str, noise: Any, loss: Any = None, study: str = "a") -> Row:
    facts = {"run": run, "study": study, "seed": 0, "tags": "", "result": "", "verdict": ""}
    return Row(facts, {"noise": noise}, {} if loss is None else {"loss": loss})


def test_a_run_is_a_row(recorded: Record) -> None:
    tags.add(recorded.folder, {"paper": "3"})
    found = row(Told.of(recorded), recorded.folder)
    assert (found["run"], found["result"], found["seed"]) == (recorded.id, "fcml/fig-1.15", 0)
    assert found["tags"] == "paper=3"
    assert found["orders"] == recorded["science"]["knobs"]["orders"]
    assert found["loo_best_order"] == 3
    assert "reproduced" in found["verdict"]


def test_a_damaged_run_costs_a_line(recorded: Record) -> None:
    (recorded.folder / "run.json").write_text("{")
    told: list[str] = []
    assert list(rows([recorded.folder], told.append)) == []
    assert len(told) == 1


numbers = st.floats(-5, 5) | st.integers(-5, 5) | st.just(math.nan)


@given(st.lists(st.tuples(numbers, st.none() | numbers)), st.floats(-5, 5))
def test_a_condition_is_python_s(pairs: list[tuple[Any, Any]], bound: float) -> None:
    found = [made(str(i), noise, loss) for i, (noise, loss) in enumerate(pairs)]
    found += [made("x", 0, 0)]
    kept = where(found, f"noise < {bound!r} and loss >= 0")
    expected = [r for r in found if r["loss"] is not None and r["noise"] < bound and r["loss"] >= 0]
    assert kept == expected
    values = [r["noise"] for r in ordered(found, "noise", reverse=False)]
    finite = [value for value in values if value == value]
    assert finite == sorted(finite)
    assert all(value != value for value in values[len(finite) :])


def test_words_can_be_compared() -> None:
    found = [made("a", 1, study="ridge"), made("b", 2, study="lasso")]
    assert [r["run"] for r in where(found, "study == 'ridge'")] == ["a"]
    assert [r["run"] for r in ordered(found, "study", reverse=False)] == ["b", "a"]


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("nois < 1", r"no run has 'nois' \(did you mean 'noise'\?\)"),
        ("noise +", "--where"),
        ("noise + 1", "not true or false"),
        ("__import__('os')", "--where"),
    ],
)
def test_a_condition_that_cannot_be_tested(condition: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        where([made("a", 1.0)], condition)


def test_columns_tell_runs_apart() -> None:
    found = [made("a", 1, 0.5), made("b", 2, 0.7)]
    assert columns(found, None) == ["run", "study", "seed", "noise", "loss"]
    assert "noise" not in columns([made("a", 1, 0.5), made("b", 1, 0.7)], None)
    assert "loss" not in columns([*found, made("c", 1, study="b")], None)
    assert columns(found, ["loss", "run"]) == ["loss", "run"]
    for act in (lambda: columns(found, ["los"]), lambda: ordered(found, "los", reverse=False)):
        with pytest.raises(BadInput, match=r"did you mean 'loss'"):
            act()
