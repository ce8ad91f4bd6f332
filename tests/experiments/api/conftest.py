"""Fixtures: two outputs folders, and a function that reads everything that is stored in one."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.store.run_reader import read_run
from bythebook.experiments.store.run_store import RunStore

VARIABLE = ("started", "seconds", "cpu_seconds", "command")  # fields of equal runs that differ
VARIABLE_TAGS = ("mlflow.source.name", "mlflow.parentRunId", "mlflow.note.content")


@pytest.fixture
def folders(
    tmp_path: Path, empty_store: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, Path]:
    """Two outputs folders with a tracking store each."""
    monkeypatch.delenv("BYTHEBOOK_DATA", raising=False)
    both = tmp_path / "command", tmp_path / "python"
    for folder in both:
        folder.mkdir()
        (folder / "mlflow.db").write_bytes(empty_store.read_bytes())
    return both


@pytest.fixture
def read_all() -> Callable[[Path], dict[str, Any]]:
    """A function that reads all records, MLflow runs and tables in a folder, without times."""
    return _read_all


def _read_all(outputs: Path) -> dict[str, Any]:
    tables = {
        path.relative_to(outputs).as_posix(): path.read_text()
        for path in sorted(outputs.glob("sweeps/*/*.csv"))
    }
    images = sorted(path.relative_to(outputs).as_posix() for path in outputs.glob("**/*.png"))
    drawn = [name for name in images if not name.startswith("mlartifacts")]
    return {"records": _records(outputs), "mlflow": _logged_runs(outputs), **tables, "drawn": drawn}


def _records(outputs: Path) -> dict[str, Any]:
    records = {}
    for path in sorted(RunStore(outputs).folders()):
        content = read_run(path).content
        for name in VARIABLE:
            content["provenance"].pop(name)
        records[path.relative_to(outputs).as_posix()] = content
    return records


def _logged_runs(outputs: Path) -> list[Any]:
    """The content of each MLflow run, read with SQL."""
    with closing(sqlite3.connect(outputs / "mlflow.db")) as store:
        ids = dict(store.execute("SELECT run_uuid, name FROM runs").fetchall())
        parents = {
            run: ids[parent]
            for run, parent in store.execute(
                "SELECT run_uuid, value FROM tags WHERE key = 'mlflow.parentRunId'"
            )
        }
        runs = []
        for run, name in ids.items():
            tags = dict(store.execute("SELECT key, value FROM tags WHERE run_uuid = ?", [run]))
            shown = {k: value for k, value in tags.items() if k not in VARIABLE_TAGS}
            params = sorted(
                store.execute("SELECT key, value FROM params WHERE run_uuid = ?", [run])
            )
            sql = "SELECT key, value, step, is_nan FROM metrics WHERE run_uuid = ?"
            metrics = sorted(store.execute(sql, [run]))
            runs.append([name, parents.get(run), shown, params, metrics])
    return sorted(runs, key=repr)
