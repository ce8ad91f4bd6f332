"""What is told of a run is what its record says, also from a pack and after a change of code."""

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.configuration.build import experiment_job
from experiments.configuration.jobs import Job
from experiments.contract.labelled import BadExpression
from experiments.contract.outcome import Outcome, axis
from experiments.records import told
from experiments.records.record import Record
from experiments.records.told import Told, evaluated, packed, unpacked
from experiments.running.provenance import environment
from experiments.running.work import Order, perform


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    stated = experiment_job("fcml/fig-1.15")
    jobs: list[Job] = [stated, *(replace(stated, seed=s, canonical=False) for s in (1, 2))]
    order = Order(tmp_path_factory.mktemp("told"), environment())
    return [perform(job, order) for job in jobs]


def test_it_says_what_the_record_says(records: list[Record]) -> None:
    for record in records:
        found = Told.of(record, "max(loo_loss)")
        assert found.id == record.id
        assert found.metrics == record.metrics
        assert found.asked == {"max(loo_loss)": record.outcome["loo_loss"].values.max()}
        assert found.knobs == record["science"]["knobs"]
        assert found.claims == len(record.printed.claims) > 0
        assert "verdict" not in vars(found)  # which is never read from a file
        assert found.canonical == record["canonical"]
        assert found.knows("max(loo_loss)")
        assert found.knows(None)
        assert not found.knows("min(loo_loss)")


def test_a_metric_that_cannot_be_had_is_told(records: list[Record]) -> None:
    assert "nothing" in Told.of(records[0], "mean(nothing)").problem


def test_a_pack_keeps_it(records: list[Record]) -> None:
    stated = [Told.of(record) for record in records]
    strange = replace(stated[0], metrics={"nan": float("inf"), "count": 3, "ok": True, "w": "x"})
    assert unpacked(packed([*stated, strange])) == [*stated, strange]
    assert unpacked(packed(stated[:1])) == stated[:1]


def test_other_evaluators_are_not_believed(
    records: list[Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = packed([Told.of(record) for record in records])
    assert unpacked(content[:-4]) is None
    monkeypatch.setattr(told, "evaluators", lambda: 1)
    assert unpacked(content) is None


def test_a_metric_is_one_value() -> None:
    found = Outcome(loss=axis("order", [1, 2]).of([3.0, 4.0]))
    assert evaluated("mean(loss)", found) == 3.5
    with pytest.raises(BadExpression, match="an array"):
        evaluated("2 * loss", found)


def test_the_evaluators_are_code_of_the_contract() -> None:
    folder = Path(told.__file__).parents[1] / "contract"
    assert all((folder / f"{name}.py").exists() for name in told._EVALUATE)
