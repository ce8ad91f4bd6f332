"""A database is there whole or not at all."""

import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from experiments.tracking import databases


class Killed(BaseException):
    """Stands for kill -9: nothing of ours runs afterwards."""


def fill(address: str, *, killed: bool = False) -> SimpleNamespace:
    with closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as database:
        database.execute("CREATE TABLE half (x)")
        if killed:
            raise Killed
        database.execute("CREATE TABLE whole (x)")
    return SimpleNamespace(engine=SimpleNamespace(dispose=lambda: None))


def test_a_migration_that_is_killed_begins_again(tmp_path: Path) -> None:
    made = tmp_path / "mlflow.db"
    for _ in range(2):
        with pytest.raises(Killed):
            databases.make(made, lambda address: fill(address, killed=True))
        assert not made.exists()
    databases.make(made, fill)
    with closing(sqlite3.connect(made)) as database:
        tables = database.execute("SELECT name FROM sqlite_master ORDER BY name").fetchall()
    assert tables == [("half",), ("whole",)]
    before = made.read_bytes()
    databases.make(made, lambda address: fill(address, killed=True))  # it is there
    assert made.read_bytes() == before
    assert [path.name for path in tmp_path.glob("*.db")] == ["mlflow.db"]
