"""Queries on runs: filters, order and columns, compared with a list of all runs in memory."""

import math
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.store import tags
from bythebook.experiments.store.query import (
    Condition,
    RunQuery,
    RunRow,
    TopRows,
    run_row,
    truncate_to_second,
)
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_index import IndexedRun, RunIndex
from bythebook.experiments.store.run_summary import RunSummary

LOCATION = Path("nowhere")


def fields(run: str, knobs: dict[str, Any], metrics: dict[str, Any], **more: Any) -> dict[str, Any]:
    summary = RunSummary(
        id=run,
        finished=True,
        error=None,
        study="a",
        knobs={},
        seed=0,
        experiment=None,
        canonical=False,
        item="",
        grade="book",
        started=0.0,
        seconds=0.1,
        claims=0,
    )
    return {**vars(summary), "knobs": knobs, "metrics": metrics, **more}


def made(run: str, noise: Any, loss: Any = None, study: str = "a") -> dict[str, Any]:
    return fields(run, {"noise": noise}, {} if loss is None else {"loss": loss}, study=study)


def listed(runs: Sequence[dict[str, Any]], condition: str | None = None, **how: Any) -> RunQuery:
    """A query to which the runs are added in the reverse order of their ranks."""
    found = RunQuery(condition=Condition(condition) if condition else None, **how)
    for rank in reversed(range(len(runs))):
        found.add(IndexedRun(rank, LOCATION, runs[rank]["id"], runs[rank], has_folder=False))
    return found


class MemoryIndex(RunIndex):
    """An index of runs in memory."""

    def __init__(self, runs: Sequence[dict[str, Any]]) -> None:
        super().__init__()
        self._runs = runs

    def by_rank(self, ranks: Any) -> Any:
        return (
            IndexedRun(n, LOCATION, self._runs[n]["id"], self._runs[n], has_folder=False)
            for n in ranks
        )


def shown(runs: Sequence[dict[str, Any]], condition: str | None = None, **how: Any) -> list[RunRow]:
    found = listed(runs, condition, **how)
    found.check(print)
    return list(found.rows(MemoryIndex(runs), print))


def ids(*arguments: Any, **how: Any) -> list[str]:
    return [entry["run"] for entry in shown(*arguments, **how)]


def test_a_run_is_a_row(recorded: Record) -> None:
    tags.add_tags(recorded.folder, {"paper": "3"})
    found = run_row(RunSummary.from_record(recorded), recorded.folder)
    assert (found["run"], found["result"], found["seed"]) == (recorded.id, "fcml/fig-1.15", 0)
    assert found["tags"] == "paper=3"
    assert found["orders"] == recorded["science"]["knobs"]["orders"]
    assert found["loo_best_order"] == 3
    assert "reproduced" in found["verdict"]
    assert list(found.content()) == [*found.metrics, *found.knobs, *found.facts]


def test_an_invalid_record_is_reported(recorded: Record) -> None:
    (recorded.folder / "run.json").write_text("{")
    index, lines = RunIndex(), list[str]()
    index.add_folders([recorded.folder])
    query = RunQuery()
    for run in index.runs():
        query.add(run)
    query.check(lines.append)
    assert (query.count, list(query.rows(index, lines.append)), len(lines)) == (0, [], 1)


numbers = st.floats(-5, 5) | st.integers(-5, 5) | st.just(math.nan)


@given(st.lists(st.tuples(numbers, st.none() | numbers)), st.floats(-5, 5))
def test_conditions_have_the_semantics_of_python(
    pairs: list[tuple[Any, Any]], bound: float
) -> None:
    found = [made(str(i), noise, loss) for i, (noise, loss) in enumerate(pairs)]
    found += [made("x", 0, 0)]
    expected = [
        r["id"]
        for r in found
        if r["metrics"].get("loss") is not None
        and r["knobs"]["noise"] < bound
        and r["metrics"]["loss"] >= 0
    ]
    assert ids(found, f"noise < {bound!r} and loss >= 0") == expected  # all have the same start
    values = [entry["noise"] for entry in shown(found, by="noise", reverse=False)]
    finite = [value for value in values if value == value]
    assert finite == sorted(finite)
    assert all(value != value for value in values[len(finite) :])


def test_text_can_be_compared() -> None:
    found = [made("a", 1, study="ridge"), made("b", 2, study="lasso")]
    assert ids(found, "study == 'ridge'") == ["a"]
    assert ids(found, by="study", reverse=False) == ["b", "a"]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("nois < 1", r"no run has 'nois' \(did you mean 'noise'\?\)"),
        ("noise +", "--where"),
        ("noise + 1", "not true or false"),
        ("__import__('os')", "--where"),
    ],
)
def test_an_invalid_condition_is_refused(condition: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        shown([made("a", 1.0)], condition)


def columns(runs: Sequence[dict[str, Any]], requested: Sequence[str] | None = None) -> list[str]:
    found = listed(runs)
    found.check(print)
    return found.columns(requested)


def test_columns_are_varying_parameters_and_metrics() -> None:
    found = [made("a", 1, 0.5), made("b", 2, 0.7)]
    facts = ["run", "started", "study", "seed"]
    assert columns(found) == [*facts, "noise", "loss", "status"]
    assert "noise" not in columns([made("a", 1, 0.5), made("b", 1, 0.7)])
    assert "loss" not in columns([*found, made("c", 1, study="b")])
    assert columns([]) == []
    assert columns(found, ["loss", "run"]) == ["loss", "run"]
    for act in (lambda: columns(found, ["los"]), lambda: shown(found, by="los")):
        with pytest.raises(InputError, match=r"did you mean 'loss'"):
            act()


@example(1.9999996)
@given(st.floats(0, 1e11) | st.builds(lambda n, e: n + e, st.integers(0, 2**31), st.floats(0, 1)))
def test_runs_are_sorted_by_the_shown_second(started: float) -> None:
    """Rounded like the text: 0.9999996 seconds are shown as the next second."""
    text = datetime.fromtimestamp(started, UTC).strftime("%Y-%m-%d %H:%M:%S")
    second = datetime.fromtimestamp(truncate_to_second(started), UTC)
    assert second.strftime("%Y-%m-%d %H:%M:%S") == text


keys = st.none() | st.integers(0, 4)


@given(st.permutations(range(25)), st.lists(keys, min_size=25, max_size=25), st.booleans())
def test_the_first_rows_are_those_of_a_sorted_list(
    ranks: list[int], values: list[int | None], reverse: bool
) -> None:
    expected = sorted(
        (n for n in range(25) if values[n] is not None),
        key=lambda n: (values[n] or 0) * (-1 if reverse else 1),
    )
    expected += [n for n in range(25) if values[n] is None]
    for limit in (1, 3, 24, 25, 60, None):
        found = TopRows(limit, reverse=reverse)
        for rank in ranks:
            found.add(values[rank], rank)
        assert [rank for _, rank, _ in found.sorted_rows()] == expected[:limit]


def of_all(runs: Sequence[dict[str, Any]], *, reverse: bool) -> tuple[list[str], list[str]]:
    """The ids in order and the columns, computed from all runs in memory."""
    text = [datetime.fromtimestamp(run["started"], UTC).strftime("%F %T") for run in runs]
    order = sorted(range(len(runs)), key=lambda n: text[n], reverse=reverse)
    found = [runs[n] for n in order]
    knobs = dict.fromkeys(name for run in found for name in run["knobs"])
    metrics = dict.fromkeys(name for run in found for name in run["metrics"])
    varying = [k for k in knobs if len({repr(run["knobs"].get(k)) for run in found}) > 1]
    own = [*varying[:4], *list(metrics)[:4]] if len({run["study"] for run in found}) == 1 else []
    canonical = any(run["canonical"] for run in runs)
    result = ["result"] if canonical else []
    facts = ["run", "started", *result, "study", "seed", *own, "status"] if runs else []
    return [run["id"] for run in found], facts


VALUES = [0, 0.0, -0.0, False, None, "x", [1], [1.0]]


@pytest.mark.parametrize("seed", range(300))
def test_a_query_equals_a_list_of_all_runs(seed: int) -> None:
    draw = random.Random(seed)
    names = "abcdefg"
    parts = [
        {name: draw.choice(VALUES) for name in draw.sample(names, draw.randrange(4))}
        for _ in range(4)
    ]
    rare = draw.choice([0, 0, 0.03])  # another study, or a published result
    runs: list[dict[str, Any]] = []
    while len(runs) < 40:  # runs of a group share the mappings of parameters and metrics
        knobs, metrics = draw.choices(parts, k=2)
        for _ in range(draw.randrange(1, 9)):
            run = fields(f"{len(runs)}", knobs, metrics, started=draw.random() * 8)
            run["study"] = "s" if draw.random() < rare else "r"
            run |= {"canonical": draw.random() < rare, "experiment": "x"}
            runs.append(run)
    reverse, limit = draw.random() < 0.7, draw.choice([1, 2, 5, None])
    order, shown = of_all(runs, reverse=reverse)
    found = listed(runs, reverse=reverse, limit=limit)
    assert found.count == len(runs)
    assert [entry["run"] for entry in found.rows(MemoryIndex(runs), print)] == order[:limit]
    assert found.columns(None) == shown


def test_rows_that_are_not_shown_are_not_stored() -> None:
    runs = [fields(str(n), {"noise": n}, {}, started=float(n * 7919 % 1000)) for n in range(1000)]
    for how in ({}, {"by": "noise"}, {"condition": "noise >= 0"}):
        found = listed(runs, limit=5, **how)
        assert found.count == 1000
        assert found.rows_in_memory <= 10
