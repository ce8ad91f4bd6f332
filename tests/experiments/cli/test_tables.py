"""`bythebook tables`: tables are written from records, in several formats."""

import csv
from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.core.study import studies
from bythebook.experiments.store.record import Record

Capture = pytest.CaptureFixture[str]


def test_tables_are_written_from_the_record(
    outputs: Path, recorded: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies()[recorded.study], "run", lambda *_: pytest.fail("it computed"))
    assert main(["tables", "fcml/fig-1.15"]) == 0
    folder = outputs / "tables" / "fcml" / "fig-1.15"
    written = {path.name for path in folder.iterdir()}
    assert {"order.csv", "order.md", "order.tex", "claims.csv"} <= written
    with (folder / "order.csv").open(encoding="utf-8", newline="") as stream:
        losses = [float(row["loo_loss"]) for row in csv.DictReader(stream)]
    assert losses == recorded.outcome["loo_loss"].values.tolist()  # bit for bit


def test_only_the_requested_formats_are_written(outputs: Path, recorded: Record) -> None:
    assert main(["tables", "fcml/fig-1.15", "--format", "md"]) == 0
    folder = outputs / "tables" / "fcml" / "fig-1.15"
    assert {path.suffix for path in folder.iterdir()} == {".md"}


def test_a_result_without_a_run_is_reported_in_one_line(outputs: Path, capsys: Capture) -> None:
    assert main(["tables", "fcml/fig-1.15"]) == 0
    captured = capsys.readouterr()
    assert "run `bythebook reproduce fcml/fig-1.15` first" in captured.err
    assert captured.out.startswith("0 tables in ")
