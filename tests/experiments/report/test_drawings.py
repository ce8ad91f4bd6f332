"""The report's figures: drawn once, kept while they are needed, never in the way of the rest."""

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from experiments.contract.errors import BadInput
from experiments.records.record import Record
from experiments.report import drawings, site
from experiments.sweeping.figure import Mark


def test_figures_are_drawn_once(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*task: object) -> str:
        raise AssertionError("drawn again")

    monkeypatch.setattr("experiments.report.drawings._draw", refuse)
    made.write()


@pytest.fixture
def undrawable(made: Any) -> Record:
    """A record whose study is gone."""
    science = {**made.records["prml/evil"]["science"], "study": "gone"}
    return Record(
        made.outputs / "nowhere",
        {**made.records["prml/evil"].content, "id": "feed-1", "science": science},
    )


def test_a_figure_that_fails_is_told_and_shown(
    made: Any, undrawable: Record, tmp_path: Path
) -> None:
    told: list[str] = []
    index = site.write({"prml/evil": undrawable}, ["prml/evil"], tmp_path, tell=told.append)
    assert len(told) == 1
    assert told[0].startswith("prml/evil: no figure: BadInput")
    page = made.parse((index.parent / "experiments/prml/evil.html").read_text(encoding="utf-8"))
    assert "No figure could be drawn: BadInput" in page.text


def kept_as(run: str) -> str:
    """The cache's name for the figures of a run whose study is gone."""
    return f"{run}-{drawings._style()}-{drawings.GONE}"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A cache with the figures of a run, of one that is gone, and of an interrupted writer."""
    for name in (kept_as("cafe-1"), kept_as("dead-1"), "cafe-1-oldstyle-gone", ".drawing-x"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "order.json").write_text("[]")
        then = time.time() - drawings.UNUSED - 60
        os.utime(tmp_path / name, (then, then))
    return tmp_path


def test_what_no_run_needs_is_pruned(kept: Path) -> None:
    drawings.prune(kept, ["cafe-1"], [])
    assert [path.name for path in kept.iterdir()] == [kept_as("cafe-1")]


def test_what_another_report_is_about_to_copy_is_not_pruned(kept: Path) -> None:
    record = Record(kept / "nowhere", {"id": "dead-1", "science": {"study": "gone"}})
    found = drawings.drawn({"any": record}, kept)  # by the other report: found, hence touched
    assert found["dead-1"].problem == ""
    drawings.prune(kept, [], [])
    assert [path.name for path in kept.iterdir()] == [kept_as("dead-1")]


def test_pruning_twice_at_once_is_no_error(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remove = shutil.rmtree

    def twice(folder: Path) -> None:
        remove(folder)  # by the other report, a moment earlier
        remove(folder)

    monkeypatch.setattr(shutil, "rmtree", twice)
    drawings.prune(kept, [], [])
    assert list(kept.iterdir()) == []


def test_a_figure_is_drawn_again_when_its_code_is_another(
    made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = made.records["fcml/fig-8.7"]
    (before,) = drawings.drawn({"any": record}, tmp_path).values()
    codes = {**drawings._codes(), "another_study": "12345678"}
    monkeypatch.setattr(drawings, "_codes", lambda: codes)
    (same,) = drawings.drawn({"any": record}, tmp_path).values()
    assert same.folder == before.folder
    monkeypatch.setattr(drawings, "_codes", lambda: {**codes, record.study: "12345678"})
    (after,) = drawings.drawn({"any": record}, tmp_path).values()
    assert after.folder != before.folder
    assert after.names == before.names


def test_other_formats_come_when_they_are_asked_for(made: Any, tmp_path: Path) -> None:
    record = made.records["fcml/fig-8.7"]
    (before,) = drawings.drawn({"any": record}, tmp_path).values()
    assert {path.suffix for path in before.folder.iterdir()} == {".svg", ".json"}
    assert not (record.folder / "figures").exists()
    svg = (before.folder / f"{before.names[0]}.svg").read_bytes()
    formats = drawings.wanted("pdf,png")
    (after,) = drawings.drawn({"any": record}, tmp_path, formats).values()
    assert (after.folder, after.names) == (before.folder, before.names)
    for name in after.names:
        assert all((after.folder / f"{name}.{suffix}").stat().st_size > 500 for suffix in formats)
    assert (after.folder / f"{before.names[0]}.svg").read_bytes() == svg
    assert {path.suffix for path in (record.folder / "figures").iterdir()} == {".png", ".webp"}
    shutil.rmtree(record.folder / "figures")
    shown = drawings.shown(after, "figures/x", "title")[0]
    assert shown.formats == ("svg", "pdf", "png")


def test_unknown_formats_are_refused() -> None:
    assert drawings.wanted("svg") == ("svg",)
    assert drawings.wanted("png,svg,png") == ("svg", "png")
    with pytest.raises(BadInput, match="format 'gif' is unknown; allowed: png, pdf, svg"):
        drawings.wanted("pdf,gif")


def test_a_sweep_is_drawn_again_over_another_printed_value(made: Any, tmp_path: Path) -> None:
    (folder,) = (made.outputs / "sweeps").iterdir()
    found = []
    for value in (3.0, 4.0):
        marks = {folder.name: [Mark(value, f"the book prints {value}", {})]}
        (entry,) = drawings.drawn_sweeps([folder], tmp_path, marks).values()
        found.append(entry.folder)
        svg = (entry.folder / "sweep.svg").read_text(encoding="utf-8")
        assert f"the book prints {value}" in drawings.labels(svg)
    assert found[0] != found[1]


def test_figures_follow_the_colour_scheme(made: Any) -> None:
    for path in made.root.glob("figures/**/*.svg"):
        assert "prefers-color-scheme: dark" in path.read_text(encoding="utf-8")


def test_a_sweep_is_drawn_again_when_its_cells_are_others(made: Any, tmp_path: Path) -> None:
    (folder,) = (made.outputs / "sweeps").iterdir()
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    (before,) = drawings.drawn_sweeps([copy], tmp_path / "cache", {}).values()
    assert before.names == ("sweep",)
    with (copy / "cells.csv").open("a", encoding="utf-8") as stream:
        stream.write("\n")
    (after,) = drawings.drawn_sweeps([copy], tmp_path / "cache", {}).values()
    assert after.folder != before.folder
