"""Tables of a record as text files."""

import csv
from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.core import summaries
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.tables import write_tables

BLANK = {"true", "TRUE", "false", "FALSE"}  # what MLflow's preview of a CSV file shows as nothing


def test_a_table_of_claims_has_no_booleans(outputs: Path) -> None:
    assert main(["run", "experiment=fcml/fig-1.15", "tracking=off"]) == 0
    assert main(["tables", "fcml/fig-1.15"]) == 0
    (run,) = (outputs / "runs" / "fcml" / "fig-1.15").iterdir()
    for folder in (run / "tables", outputs / "tables" / "fcml" / "fig-1.15"):
        with (folder / "claims.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert "holds" in {row["computed"] for row in rows}
        assert "3" in {row["computed"] for row in rows}
        assert not BLANK & {cell for row in rows for cell in row.values()}


def test_names_of_a_record_never_become_paths(
    recorded: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An outcome refuses such names; the writer does not rely on that."""
    names = ["../../out", "/out", "a/b", "a-b", "..", "", "x" * 500]
    monkeypatch.setattr(summaries, "result_tables", lambda _: {name: {"x": [1]} for name in names})
    vars(recorded).update(verdicts=[])
    paths = write_tables(recorded, tmp_path / "tables" / "here", ["csv", "md"])
    assert len(set(paths)) == len(paths) == 2 * len(names)
    assert {path.parent for path in paths} == {tmp_path / "tables" / "here"}
    files = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert files - set((tmp_path / "outputs").rglob("*")) == set(paths)
