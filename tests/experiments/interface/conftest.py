"""The same thing typed and called, in two folders, with what each of them left there."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from experiments.records.reading import read
from experiments.records.store import RunStore

TIMES = ("started", "seconds", "cpu_seconds", "command")  # of a record: when, and how it was said
OWN = ("mlflow.source.name", "mlflow.parentRunId", "mlflow.note.content")


@pytest.fixture
def two(tmp_path: Path, empty_store: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two outputs folders with a tracking store each."""
    monkeypatch.delenv("BOOK_DATA", raising=False)
    folders = tmp_path / "typed", tmp_path / "called"
    for folder in folders:
        folder.mkdir()
        (folder / "mlflow.db").write_bytes(empty_store.read_bytes())
    return folders


@pytest.fixture
def kept() -> Callable[[Path], dict[str, Any]]:
    """Every record, every MLflow run and every sweep's table below a folder, but for times."""
    return _kept


def _kept(outputs: Path) -> dict[str, Any]:
    tables = {
        path.relative_to(outputs).as_posix(): path.read_text()
        for path in sorted(outputs.glob("sweeps/*/*.csv"))
    }
    pictures = sorted(path.relative_to(outputs).as_posix() for path in outputs.glob("**/*.png"))
    drawn = [name for name in pictures if not name.startswith("mlartifacts")]
    return {"records": _records(outputs), "mlflow": _tracked(outputs), **tables, "drawn": drawn}


def _records(outputs: Path) -> dict[str, Any]:
    found = {}
    for path in sorted(RunStore(outputs).folders()):
        content = read(path).content
        for name in TIMES:
            content["provenance"].pop(name)
        found[path.relative_to(outputs).as_posix()] = content
    return found


def _tracked(outputs: Path) -> list[Any]:
    """What the store holds of each run, read as plain SQL."""
    with closing(sqlite3.connect(outputs / "mlflow.db")) as store:
        ids = dict(store.execute("SELECT run_uuid, name FROM runs").fetchall())
        parents = {
            run: ids[parent]
            for run, parent in store.execute(
                "SELECT run_uuid, value FROM tags WHERE key = 'mlflow.parentRunId'"
            )
        }
        found = []
        for run, name in ids.items():
            tags = dict(store.execute("SELECT key, value FROM tags WHERE run_uuid = ?", [run]))
            shown = {key: value for key, value in tags.items() if key not in OWN}
            params = sorted(
                store.execute("SELECT key, value FROM params WHERE run_uuid = ?", [run])
            )
            sql = "SELECT key, value, step, is_nan FROM metrics WHERE run_uuid = ?"
            metrics = sorted(store.execute(sql, [run]))
            found.append([name, parents.get(run), shown, params, metrics])
    return sorted(found, key=repr)
