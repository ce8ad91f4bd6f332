"""Printed values beside sweeps: only where the quantity is the same."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from experiments.records.record import Record
from experiments.report import beside
from experiments.report.content import Result, anchored


def results(made: Any, **knobs: Any) -> list[Result]:
    """The results of the site, as if their runs had had other knobs."""
    found = []
    for name, record in made.records.items():
        science = record["science"]
        stated = {**science, "knobs": {**science["knobs"], **knobs}}
        other = Record(record.folder, {**record.content, "science": stated})
        source = dataclasses.asdict(record.source)
        found.append(
            Result(name, f"experiments/{name}.html", source, other, anchored(name, record))
        )
    return found


def printed(made: Any, found: list[Result], outputs: Path | None = None) -> list[beside.Beside]:
    folders = sorted((outputs or made.outputs).glob("sweeps/*"))
    values = beside.printed_values(folders, found, made.outputs)
    return [entry for entries in values.values() for entry in entries]


def test_every_text_that_prints_the_quantity_is_there(made: Any) -> None:
    """Spaces in an expression are nothing; a check of our own and what is no number are not it."""
    found = printed(made, results(made, folds=7))
    assert [(e.result.name, e.claim["printed"]) for e in found] == [
        ("fcml/fig-8.7", "3"), ("fcml/fig-8.8", "4"), ("fcml/fig-8.8", "7"), ("prml/evil", "9"),
    ]  # fmt: skip
    assert {entry.place for entry in found} == {"folds = 7"}
    assert {entry.ours for entry in found} == {"3"}  # every cell has the same record
    assert found[0].mark.value == 3.0
    assert found[0].mark.at == {"study.folds": 7}


def test_where_the_sweep_has_no_such_cell_it_says_nothing_of_it(made: Any) -> None:
    found = printed(made, results(made))
    assert found
    assert {entry.ours for entry in found} == {""}


@pytest.mark.parametrize("knobs", [{"data": "olympics-100m-women"}, {"orders": [1, 2]}])
def test_another_setting_of_what_is_not_swept_is_another_quantity(
    made: Any, knobs: dict[str, Any]
) -> None:
    assert printed(made, results(made, **knobs)) == []


def test_another_metric_is_another_quantity(made: Any, tmp_path: Path) -> None:
    shutil.copytree(made.outputs / "sweeps", tmp_path / "sweeps")
    (path,) = tmp_path.glob("sweeps/*/sweep.json")
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "metric": "min(loo_loss)"}))
    cells = path.with_name("cells.csv")
    cells.write_text(cells.read_text().replace("argmin( loo_loss )", "min(loo_loss)"))
    assert printed(made, results(made), tmp_path) == []
    path.write_text("{")  # one that cannot be read is told elsewhere
    assert printed(made, results(made), tmp_path) == []


def test_the_pages_say_it_in_words(made: Any, parsed: dict[Path, Any]) -> None:
    (folder,) = (made.outputs / "sweeps").iterdir()
    words = "The text prints 3 for argmin( loo_loss ) at folds = "
    for page in (f"sweeps/{folder.name}.html", "experiments/fcml/fig-8.7.html"):
        assert words in parsed[made.root / page].text
    assert "Figure 8.7 prints 3" in (made.root / f"sweeps/{folder.name}/sweep.svg").read_text()
