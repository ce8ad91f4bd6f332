"""Printed values in figures of sweeps: only if the quantity is the same."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.report import printed_overlays
from bythebook.experiments.report.result_pages import ResultPage, claims_with_anchors
from bythebook.experiments.store.record import Record


def results(made: Any, **parameters: Any) -> list[ResultPage]:
    """The results of the site, with other parameters in their records."""
    pages = []
    for name, record in made.records.items():
        science = record["science"]
        changed = {**science, "knobs": {**science["knobs"], **parameters}}
        other = Record(record.folder, {**record.content, "science": changed})
        source = dataclasses.asdict(record.source)
        pages.append(
            ResultPage(
                name, f"experiments/{name}.html", source, other, claims_with_anchors(name, record)
            )
        )
    return pages


def printed(
    made: Any, pages: list[ResultPage], outputs: Path | None = None
) -> list[printed_overlays.PrintedOverlay]:
    folders = sorted((outputs or made.outputs).glob("sweeps/*"))
    values = printed_overlays.printed_overlays(folders, pages, made.outputs)
    return [entry for entries in values.values() for entry in entries]


def test_all_texts_that_print_the_quantity_are_shown(made: Any) -> None:
    """Spaces in an expression do not matter; derived checks and statements are not shown."""
    overlays = printed(made, results(made, folds=7))
    assert [(e.result.name, e.claim["printed"]) for e in overlays] == [
        ("fcml/fig-8.7", "3"), ("fcml/fig-8.8", "4"), ("fcml/fig-8.8", "7"), ("prml/evil", "9"),
    ]  # fmt: skip
    assert {entry.location for entry in overlays} == {"folds = 7"}
    assert {entry.mean for entry in overlays} == {"3"}  # all cells share a record
    assert overlays[0].reference_value.value == 3.0
    assert overlays[0].reference_value.at == {"study.folds": 7}


def test_without_a_run_at_the_published_values_the_mean_is_empty(made: Any) -> None:
    overlays = printed(made, results(made))
    assert overlays
    assert {entry.mean for entry in overlays} == {""}


@pytest.mark.parametrize("parameters", [{"data": "olympics-100m-women"}, {"orders": [1, 2]}])
def test_another_value_of_a_fixed_parameter_is_another_quantity(
    made: Any, parameters: dict[str, Any]
) -> None:
    assert printed(made, results(made, **parameters)) == []


def test_another_metric_is_another_quantity(made: Any, tmp_path: Path) -> None:
    shutil.copytree(made.outputs / "sweeps", tmp_path / "sweeps")
    (path,) = tmp_path.glob("sweeps/*/sweep.json")
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "metric": "min(loo_loss)"}))
    cells = path.with_name("cells.csv")
    cells.write_text(cells.read_text().replace("argmin( loo_loss )", "min(loo_loss)"))
    assert printed(made, results(made), tmp_path) == []
    path.write_text("{")  # sweeps.read_all reports it
    assert printed(made, results(made), tmp_path) == []


def test_the_pages_show_the_printed_value(made: Any, parsed: dict[Path, Any]) -> None:
    (folder,) = (made.outputs / "sweeps").iterdir()
    words = "The text prints 3 for argmin( loo_loss ) at folds = "
    for page in (f"sweeps/{folder.name}.html", "experiments/fcml/fig-8.7.html"):
        assert words in parsed[made.root / page].text
    assert "Figure 8.7 prints 3" in (made.root / f"sweeps/{folder.name}/sweep.svg").read_text()
