"""Sweeps on the site: what their folders hold, and what of it fits on a page."""

import json
import shutil
from pathlib import Path
from typing import Any

from experiments.report import sweeps


def test_sweep_page(made: Any, parsed: dict[Path, Any]) -> None:
    (folder,) = (made.outputs / "sweeps").iterdir()
    page = parsed[made.root / f"sweeps/{folder.name}.html"]
    assert "4 of 4 cells finished" in page.text
    assert "folds = 5" in page.text
    assert made.records["fcml/fig-8.7"].id in page.text
    assert f"../sweeps/{folder.name}/cells.csv" in page.links
    assert f"../sweeps/{folder.name}/sweep.svg" in page.links
    assert f"sweeps/{folder.name}.html" in made.text("experiments/fcml/fig-8.7.html")


def test_a_sweep_that_cannot_be_read_costs_a_line(made: Any, tmp_path: Path) -> None:
    (folder,) = (made.outputs / "sweeps").iterdir()
    for name, started in (("old", 1.0), ("new", 2.0), ("torn", 3.0)):
        shutil.copytree(folder, tmp_path / "sweeps" / name)
        path = tmp_path / "sweeps" / name / "sweep.json"
        content = json.loads(path.read_text())
        content["state"]["started"] = started
        path.write_text(json.dumps(content))
    (tmp_path / "sweeps" / "torn" / "sweep.json").write_text("{")
    found, problems = sweeps.read_all(tmp_path, {}, {})
    assert [sweep.folder.name for sweep in found] == ["new", "old"]
    assert len(problems) == 1
    assert problems[0].startswith("the sweep torn cannot be read: ")


def test_a_sweep_says_how_to_make_it_again(made: Any) -> None:
    (swept,), _ = sweeps.read_all(made.outputs, {}, {})
    assert swept.experiment == "fcml/fig-8.7"
    assert swept.command.startswith("bythebook run -m experiment=fcml/fig-8.7 study.folds=5,7 '<")
    assert swept.finished == len(swept.plan) == 4


def test_of_few_combinations_metrics_stand_below_each_other(made: Any) -> None:
    """Two combinations of folds, and a row for each quantity; of many, a row for each."""
    (swept,), _ = sweeps.read_all(made.outputs, {}, {})
    assert swept.pivot is not None
    assert list(swept.pivot.table)[1:] == ["folds = 5", "folds = 7"]
    assert swept.pivot.rows[0] == ("runs", 2, 2)
    many = {"study.k": list(range(9)), "runs": [1] * 9, "a mean": [0.5] * 9, "a s.e.": [0.1] * 9}
    assert list(sweeps._paired(many, swept.plan)) == ["k", "runs", "a"]
