"""Tables as text."""

import csv
from pathlib import Path

from experiments.cli import main

BLANK = {"true", "TRUE", "false", "FALSE"}  # what MLflow's preview of a CSV file shows as nothing


def test_claims_are_written_in_words(outputs: Path) -> None:
    assert main(["run", "experiment=fcml/fig-1.15", "tracking=off"]) == 0
    assert main(["tables", "fcml/fig-1.15"]) == 0
    (run,) = (outputs / "runs" / "fcml" / "fig-1.15").iterdir()
    for folder in (run / "tables", outputs / "tables" / "fcml" / "fig-1.15"):
        with (folder / "claims.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert "holds" in {row["computed"] for row in rows}
        assert "3" in {row["computed"] for row in rows}
        assert not BLANK & {cell for row in rows for cell in row.values()}
