"""`bythebook tables`: from the record alone, in each format the same numbers."""

import csv
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.contract.study import studies
from experiments.records.record import Record

Capture = pytest.CaptureFixture[str]


def test_tables_come_from_the_record_alone(
    outputs: Path, recorded: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies()[recorded.study], "run", lambda *_: pytest.fail("it computed"))
    assert main(["tables", "fcml/fig-1.15"]) == 0
    folder = outputs / "tables" / "fcml" / "fig-1.15"
    written = {path.name for path in folder.iterdir()}
    assert {"order.csv", "order.md", "order.tex", "claims.csv"} <= written
    with (folder / "order.csv").open(encoding="utf-8", newline="") as stream:
        losses = [float(row["loo_loss"]) for row in csv.DictReader(stream)]
    assert losses == recorded.outcome["loo_loss"].values.tolist()  # to the last bit


def test_only_the_formats_that_are_asked_for(outputs: Path, recorded: Record) -> None:
    assert main(["tables", "fcml/fig-1.15", "--format", "md"]) == 0
    folder = outputs / "tables" / "fcml" / "fig-1.15"
    assert {path.suffix for path in folder.iterdir()} == {".md"}


def test_what_was_never_run_costs_a_line(outputs: Path, capsys: Capture) -> None:
    assert main(["tables", "fcml/fig-1.15"]) == 0
    told = capsys.readouterr()
    assert "`bythebook reproduce fcml/fig-1.15` makes one" in told.err
    assert told.out.startswith("0 tables in ")
