"""The complete site: links, valid HTML, escaping, reproducible bytes."""

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from bythebook.experiments.report import figure_cache, site


def test_pages(made: Any, parsed: dict[Path, Any]) -> None:
    found = {path.relative_to(made.root).as_posix() for path in parsed}
    (sweep,) = (path.name for path in (made.outputs / "sweeps").iterdir())
    wanted = {
        "index",
        "experiments",
        "gallery",
        "errata",
        "seeds",
        "fields",
        "sweeps",
        f"sweeps/{sweep}",
    }
    wanted |= {"books/fcml", "books/prml", "books/mlapp"}
    wanted |= {"topics/regression", "topics/none"}
    wanted |= {"equations-fcml", "equations-prml", "equations-mlapp"}
    wanted |= {f"experiments/{name}" for name in made.names}
    assert found == {f"{name}.html" for name in wanted}


def test_every_link_has_a_target(made: Any, parsed: dict[Path, Any]) -> None:
    broken = []
    for path, page in parsed.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                assert link == "data:," or link == made.mlflow, link
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            exists = target.is_file() and target.is_relative_to(made.root.resolve())
            if not exists or (parts.fragment and parts.fragment not in parsed[target].ids):
                broken.append(f"{path.name}: {link}")
    assert broken == []


def test_html_is_valid(parsed: dict[Path, Any]) -> None:
    for path, page in parsed.items():
        assert len(page.ids) == len(set(page.ids)), path
        names = [tag for tag, _ in page.tags]
        assert names.count("h1") == 1, path
        assert names.count("main") == 1, path
        for tag, attributes in page.tags:
            assert not [name for name in attributes if name.startswith("on")], (path, attributes)
            if tag == "script":
                assert str(attributes.get("src")).endswith("static/site.js"), path
            if tag == "img":
                assert "alt" in attributes, path
            if tag == "th":
                assert attributes.get("scope") in ("row", "col"), path


def test_texts_of_runs_are_escaped(made: Any, parsed: dict[Path, Any]) -> None:
    pages_with = [path for path, page in parsed.items() if made.evil in page.text]
    names = {path.relative_to(made.root).as_posix() for path in pages_with}
    assert {"index.html", "errata.html", "experiments.html", "books/prml.html"} <= names
    assert {"experiments/prml/evil.html", "experiments/prml/failed.html"} <= names
    assert not [path for path in parsed if made.evil in path.read_text(encoding="utf-8")]


def test_same_records_same_bytes(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def everything() -> dict[str, bytes]:
        files = [path for path in made.root.rglob("*") if path.is_file()]
        return {path.relative_to(made.root).as_posix(): path.read_bytes() for path in files}

    before = everything()
    # The figures are drawn again in a worker, which has another hash seed.
    monkeypatch.setattr(figure_cache, "MAX_SERIAL_FIGURES", 0)
    for folder in (made.outputs / "report-cache").glob(f"{made.records['prml/evil'].id}-*"):
        shutil.rmtree(folder)
    made.write()
    after = everything()
    assert before.keys() == after.keys()
    assert [name for name in before if before[name] != after[name]] == []
    assert [path.name for path in made.outputs.glob(".report-*")] == []


def test_a_site_without_runs(tmp_path: Path) -> None:
    index = site.write_site({}, ["fcml/fig-1.15"], tmp_path)
    assert "Results without a run" in index.read_text(encoding="utf-8")
    assert json.loads((tmp_path / "report/results.json").read_text()) == []
