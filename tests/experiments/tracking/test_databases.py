"""Databases are complete or absent."""

import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from bythebook.experiments.tracking import databases


class Killed(BaseException):
    """Represents `kill -9`: no code runs afterwards."""


def fill(address: str, *, killed: bool = False) -> SimpleNamespace:
    with closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as database:
        database.execute("CREATE TABLE half (x)")
        if killed:
            raise Killed
        database.execute("CREATE TABLE rest (x)")
    return SimpleNamespace(engine=SimpleNamespace(dispose=lambda: None))


def test_a_killed_migration_starts_again(tmp_path: Path) -> None:
    path = tmp_path / "mlflow.db"
    for _ in range(2):
        with pytest.raises(Killed):
            databases.create_atomically(path, lambda address: fill(address, killed=True))
        assert not path.exists()
    databases.create_atomically(path, fill)
    with closing(sqlite3.connect(path)) as database:
        tables = database.execute("SELECT name FROM sqlite_master ORDER BY name").fetchall()
    assert tables == [("half",), ("rest",)]
    before = path.read_bytes()
    databases.create_atomically(path, lambda address: fill(address, killed=True))  # it exists
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.glob("*.db")] == ["mlflow.db"]
