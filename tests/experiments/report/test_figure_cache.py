"""The figure cache: figures are drawn once, pruned when unused, and their failures reported."""

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.report import figure_cache, site
from bythebook.experiments.store.record import Record
from bythebook.experiments.sweeps.figures import ReferenceValue


def test_figures_are_drawn_once(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*task: object) -> str:
        raise AssertionError("drawn again")

    monkeypatch.setattr("bythebook.experiments.report.figure_cache._draw_task", refuse)
    made.write()


@pytest.fixture
def undrawable(made: Any) -> Record:
    """A record whose study was removed."""
    science = {**made.records["prml/evil"]["science"], "study": "gone"}
    nowhere = made.outputs / "nowhere"
    nowhere.mkdir(exist_ok=True)
    shutil.copy(made.records["prml/evil"].folder / "arrays.npz", nowhere)
    return Record(
        nowhere,
        {**made.records["prml/evil"].content, "id": "feed-1", "science": science},
    )


def test_a_figure_that_fails_is_reported_and_shown(
    made: Any, undrawable: Record, tmp_path: Path
) -> None:
    lines: list[str] = []
    index = site.write_site({"prml/evil": undrawable}, ["prml/evil"], tmp_path, tell=lines.append)
    assert len(lines) == 1
    assert lines[0].startswith("prml/evil: no figure: InputError")
    page = made.parse((index.parent / "experiments/prml/evil.html").read_text(encoding="utf-8"))
    assert "Could not draw the figures: InputError" in page.text


def cache_name(run: str) -> str:
    """The name of the cache folder of a run whose study was removed."""
    return f"{run}-{figure_cache._style()}-{figure_cache.NO_STUDY}"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache with folders of a present run, a deleted run, an old style and a temporary folder."""
    for name in (cache_name("cafe-1"), cache_name("dead-1"), "cafe-1-oldstyle-gone", ".drawing-x"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "order.json").write_text("[]")
        then = time.time() - figure_cache.MAX_UNUSED_AGE_S - 60
        os.utime(tmp_path / name, (then, then))
    return tmp_path


def test_folders_that_no_run_needs_are_pruned(cache: Path) -> None:
    figure_cache.prune_cache(cache, ["cafe-1"], [])
    assert [path.name for path in cache.iterdir()] == [cache_name("cafe-1")]


def test_recently_used_folders_are_not_pruned(cache: Path) -> None:
    record = Record(cache / "nowhere", {"id": "dead-1", "science": {"study": "gone"}})
    figures = figure_cache.run_figures({"any": record}, cache)  # by another report
    assert figures["dead-1"].problem == ""
    figure_cache.prune_cache(cache, [], [])
    assert [path.name for path in cache.iterdir()] == [cache_name("dead-1")]


def test_simultaneous_pruning_is_no_error(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remove = shutil.rmtree

    def twice(folder: Path) -> None:
        remove(folder)  # by another report, a moment earlier
        remove(folder)

    monkeypatch.setattr(shutil, "rmtree", twice)
    figure_cache.prune_cache(cache, [], [])
    assert list(cache.iterdir()) == []


def test_a_figure_is_drawn_again_when_its_code_changes(
    made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = made.records["fcml/fig-8.7"]
    (before,) = figure_cache.run_figures({"any": record}, tmp_path).values()
    codes = {**figure_cache._figure_code_hashes(), "another_study": "12345678"}
    monkeypatch.setattr(figure_cache, "_figure_code_hashes", lambda: codes)
    (same,) = figure_cache.run_figures({"any": record}, tmp_path).values()
    assert same.folder == before.folder
    monkeypatch.setattr(
        figure_cache, "_figure_code_hashes", lambda: {**codes, record.study: "12345678"}
    )
    (after,) = figure_cache.run_figures({"any": record}, tmp_path).values()
    assert after.folder != before.folder
    assert after.names == before.names


def test_a_figure_is_drawn_again_when_its_file_names_others(made: Any, tmp_path: Path) -> None:
    record = made.records["fcml/fig-8.7"]
    names = {figure_cache._cache_name(record)}
    for named in ({"losses": []}, {"losses": [1]}, {"losses": [], "fits": []}):
        printed = {**record["printed"], "figures": named}
        content = {**record.content, "printed": printed, "canonical": False}
        names.add(figure_cache._cache_name(Record(record.folder, content)))
    assert len(names) == 4
    for name in names:
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (0, 0))
    figure_cache.prune_cache(tmp_path, [record.id], [])
    assert {path.name for path in tmp_path.iterdir()} == names  # the run is present


def test_other_formats_are_drawn_on_request(made: Any, tmp_path: Path) -> None:
    record = made.records["fcml/fig-8.7"]
    (before,) = figure_cache.run_figures({"any": record}, tmp_path).values()
    assert {path.suffix for path in before.folder.iterdir()} == {".svg", ".json"}
    assert not (record.folder / "figures").exists()
    svg = (before.folder / f"{before.names[0]}.svg").read_bytes()
    formats = figure_cache.parse_formats("pdf,png")
    (after,) = figure_cache.run_figures({"any": record}, tmp_path, formats).values()
    assert (after.folder, after.names) == (before.folder, before.names)
    for name in after.names:
        assert all((after.folder / f"{name}.{suffix}").stat().st_size > 500 for suffix in formats)
    assert (after.folder / f"{before.names[0]}.svg").read_bytes() == svg
    suffixes = {path.suffix for path in (record.folder / "figures").iterdir()}
    assert suffixes == {".json", ".png", ".webp"}
    shutil.rmtree(record.folder / "figures")
    shown = figure_cache.figure_files(after, "figures/x", "title")[0]
    assert shown.formats == ("svg", "pdf", "png")


def test_unknown_formats_are_refused() -> None:
    assert figure_cache.parse_formats("svg") == ("svg",)
    assert figure_cache.parse_formats("png,svg,png") == ("svg", "png")
    with pytest.raises(InputError, match="format 'gif' is unknown; allowed: png, pdf, svg"):
        figure_cache.parse_formats("pdf,gif")


def test_a_sweep_is_drawn_again_when_a_printed_value_changes(made: Any, tmp_path: Path) -> None:
    (folder,) = (made.outputs / "sweeps").iterdir()
    folders = []
    for value in (3.0, 4.0):
        marks = {folder.name: [ReferenceValue(value, f"the book prints {value}", {})]}
        (entry,) = figure_cache.sweep_figures([folder], tmp_path, marks).values()
        folders.append(entry.folder)
        svg = (entry.folder / "sweep.svg").read_text(encoding="utf-8")
        assert f"the book prints {value}" in figure_cache.svg_labels(svg)
    assert folders[0] != folders[1]


def test_figures_follow_the_colour_scheme(made: Any) -> None:
    for path in made.root.glob("figures/**/*.svg"):
        assert "prefers-color-scheme: dark" in path.read_text(encoding="utf-8")


def test_a_sweep_is_drawn_again_when_its_cells_change(made: Any, tmp_path: Path) -> None:
    (folder,) = (made.outputs / "sweeps").iterdir()
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    (before,) = figure_cache.sweep_figures([copy], tmp_path / "cache", {}).values()
    assert before.names == ("sweep",)
    with (copy / "cells.csv").open("a", encoding="utf-8") as stream:
        stream.write("\n")
    (after,) = figure_cache.sweep_figures([copy], tmp_path / "cache", {}).values()
    assert after.folder != before.folder
