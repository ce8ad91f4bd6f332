"""Sweep pages: content of the folders, tables, unreadable sweeps."""

import json
import shutil
from pathlib import Path
from typing import Any

from bythebook.experiments.report import sweeps


def test_sweep_page(made: Any, parsed: dict[Path, Any]) -> None:
    (folder,) = (made.outputs / "sweeps").iterdir()
    page = parsed[made.root / f"sweeps/{folder.name}.html"]
    assert "4 of 4 runs finished" in page.text
    assert "folds = 5" in page.text
    assert made.records["fcml/fig-8.7"].id in page.text
    assert f"../sweeps/{folder.name}/cells.csv" in page.links
    assert f"../sweeps/{folder.name}/sweep.svg" in page.links
    assert f"sweeps/{folder.name}.html" in made.text("experiments/fcml/fig-8.7.html")


def test_an_unreadable_sweep_is_reported(made: Any, tmp_path: Path) -> None:
    (folder,) = (made.outputs / "sweeps").iterdir()
    for name, started in (("old", 1.0), ("new", 2.0), ("truncated", 3.0)):
        shutil.copytree(folder, tmp_path / "sweeps" / name)
        path = tmp_path / "sweeps" / name / "sweep.json"
        content = json.loads(path.read_text())
        content["state"]["started"] = started
        path.write_text(json.dumps(content))
    (tmp_path / "sweeps" / "truncated" / "sweep.json").write_text("{")
    pages, problems = sweeps.read_all(tmp_path, {}, {})
    assert [sweep.folder.name for sweep in pages] == ["new", "old"]
    assert len(problems) == 1
    assert problems[0].startswith("could not read the sweep truncated: ")


def test_a_sweep_gives_its_command(made: Any) -> None:
    (swept,), _ = sweeps.read_all(made.outputs, {}, {})
    assert swept.experiment == "fcml/fig-8.7"
    assert swept.command.startswith("bythebook run -m experiment=fcml/fig-8.7 study.folds=5,7 '<")
    assert swept.finished == len(swept.plan) == 4


def test_few_combinations_give_one_row_per_metric(made: Any) -> None:
    """Two combinations are columns; many combinations are rows."""
    (swept,), _ = sweeps.read_all(made.outputs, {}, {})
    assert swept.pivot is not None
    assert list(swept.pivot.table)[1:] == ["folds = 5", "folds = 7"]
    assert swept.pivot.rows[0] == ("runs", 2, 2)
    many = {"study.k": list(range(9)), "runs": [1] * 9, "a mean": [0.5] * 9, "a s.e.": [0.1] * 9}
    assert list(sweeps._paired(many, swept.plan)) == ["k", "runs", "a"]
