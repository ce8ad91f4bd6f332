"""Fixtures: servers for several fault tests; and the last line of the long tests."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import COUNTED, COUNTS, Server
from services import POSTGRES, Nginx, Postgres, missing_nginx, missing_postgres


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "server").start()
    try:
        yield made.ready()
    finally:
        made.kill()


@pytest.fixture
def nginx(tmp_path: Path, server: Server) -> Iterator[Nginx]:
    """nginx in front of the server."""
    missing = missing_nginx()
    if missing:
        pytest.skip(missing)
    made = Nginx(tmp_path / "nginx", server.port)
    yield made
    made.stop()


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    pytest.importorskip("psycopg")
    missing = missing_postgres()
    if missing:
        pytest.skip(missing)
    assert POSTGRES is not None
    made = Postgres(POSTGRES)
    yield made
    made.control("stop", "-m", "immediate")
    shutil.rmtree(made.folder, ignore_errors=True)


def pytest_unconfigure() -> None:
    """Print the counts of faults and their effects."""
    if COUNTS["faults"]:
        print(", ".join(f"{COUNTS[what]:,} {what}" for what in COUNTED))
