"""`bythebook server`: the command and environment of MLflow's server, rejected options, secrets.

The tests in `tests/faults` start the server.
"""

import os
import re
import socket
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bythebook.experiments.cli import server
from bythebook.experiments.cli.main import main
from bythebook.experiments.tracking import parent_watch

Capture = pytest.CaptureFixture[str]
SECRET = "a-Secret.of-the-test"


class Started(NamedTuple):
    """The command, the environment and the folder of MLflow's server."""

    command: list[str]
    variables: dict[str, str]
    folder: Path

    def option(self, name: str) -> str:
        return self.command[self.command.index(name) + 1]


class Replaced(Exception):
    """Raised instead of replacing the process."""


@pytest.fixture
def start(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Started]:
    """Run the command without starting MLflow's server."""
    for name in [*os.environ]:
        if name.startswith(("MLFLOW_", "PG")):
            monkeypatch.delenv(name)
    monkeypatch.setenv(server.PASSWORD, SECRET)
    monkeypatch.chdir(outputs.parent)
    seen: list[Started] = []

    def replace(_: str, command: list[str], variables: dict[str, str]) -> None:
        seen.append(Started(command, variables, Path.cwd()))
        raise Replaced

    monkeypatch.setattr(os, "execve", replace)

    def run(*arguments: str) -> Started:
        with pytest.raises(Replaced):
            main(["server", "--port", str(free_port()), *arguments])
        monkeypatch.chdir(outputs.parent)
        return seen[-1]

    return run


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_server_has_passwords_and_is_on_loopback_by_default(
    outputs: Path, start: Callable[..., Started]
) -> None:
    started = start()
    port = started.option("--port")
    assert started.command[1:3] == ["-m", "bythebook.experiments.tracking.server_app"]
    assert started.option("--host") == "127.0.0.1"
    assert started.option("--workers") == "1"
    assert started.option("--artifacts-destination") == str(outputs / "server" / "artifacts")
    assert started.option("--allowed-hosts") == f"localhost:{port},127.0.0.1:{port},[::1]:{port}"
    assert started.folder == outputs / "server"
    assert started.folder.stat().st_mode & 0o077 == 0
    assert started.variables[server.STORE] == "sqlite:///mlflow.db"
    assert started.variables["MLFLOW_SERVER_CORS_ALLOWED_ORIGINS"] == ""
    assert len(started.variables["MLFLOW_FLASK_SERVER_SECRET_KEY"]) == 64
    settings = Path(started.variables["MLFLOW_AUTH_CONFIG_PATH"]).read_text()
    assert "database_uri = sqlite:///users.db" in settings
    assert "default_permission = EDIT" in settings
    assert "auth_cache_ttl_seconds = 0" in settings  # a changed password is valid in every worker
    assert Path(started.variables[parent_watch.LOCK_ENV]).parent == started.folder


def test_other_machines_may_use_the_allowed_names(
    start: Callable[..., Started], capsys: Capture
) -> None:
    names = "mlflow.example.org, 10.0.0.7:80,*.lab.example.org"
    started = start("--host", "0.0.0.0", "--allowed-hosts", names)
    allowed = started.option("--allowed-hosts").split(",")
    port = started.option("--port")
    assert allowed[3:] == [*names.replace(" ", "").split(","), f"mlflow.example.org:{port}"]
    origins = started.variables["MLFLOW_SERVER_CORS_ALLOWED_ORIGINS"].split(",")
    assert "https://mlflow.example.org" in origins
    assert not [origin for origin in origins if "127.0.0.1" in origin]
    assert "passwords are sent unencrypted" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "allowed"),
    [
        ("runs:/abc/model", True),
        ("models:/m/1", True),
        ("mlflow-artifacts:/1/abc/artifacts/model", True),
        ("s3://bucket/x", False),
        ("file:///etc", False),
        ("/etc", False),
        ("dbfs:/x", False),
        ("x runs:/abc", False),
    ],
)
def test_allowed_locations_of_a_model(
    start: Callable[..., Started], source: str, allowed: bool
) -> None:
    name = "MLFLOW_CREATE_MODEL_VERSION_SOURCE_VALIDATION_REGEX"
    assert bool(re.search(start().variables[name], source)) is allowed


def test_the_host_is_an_allowed_name() -> None:
    loopback = ["localhost:1", "127.0.0.1:1", "[::1]:1"]
    assert server.own_names("127.0.0.1", 1) == server.own_names("::1", 1) == loopback
    assert server.own_names("192.0.2.7", 1) == [*loopback, "192.0.2.7:1"]
    assert server.own_names("2001:db8::7", 1) == [*loopback, "[2001:db8::7]:1"]
    for wildcard in ("0.0.0.0", "::", ""):
        assert server.own_names(wildcard, 1) == loopback


def test_no_secret_is_on_the_command_line_on_the_console_or_in_a_file(
    outputs: Path, start: Callable[..., Started], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"postgresql://mlflow:{SECRET}@db.example.org/runs"
    monkeypatch.setenv(server.STORE, address)
    monkeypatch.setattr(server, "_check_reachable", lambda _: None)
    started = start()
    assert started.variables[server.STORE] == address.replace("://", "+psycopg://")
    assert SECRET not in " ".join(started.command)
    captured = capsys.readouterr()
    assert SECRET not in captured.out + captured.err
    files = [path for path in outputs.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if SECRET in path.read_text()]


def test_the_driver_is_optional_and_a_path_is_relative_to_the_current_folder(
    outputs: Path, start: Callable[..., Started], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_check_reachable", lambda _: None)
    started = start("--store", "postgresql://mlflow@db.example.org/runs")
    assert started.variables[server.STORE] == "postgresql+psycopg://mlflow@db.example.org/runs"
    started = start("--store", "sqlite:///mine.db")
    assert started.variables[server.STORE] == f"sqlite:///{outputs.parent / 'mine.db'}"


def test_a_generated_password_is_shown_once_and_on_a_terminal_only(
    outputs: Path, start: Callable[..., Started], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(server.PASSWORD)
    assert main(["server", "--port", str(free_port())]) == 2
    assert "no terminal to show a password" in capsys.readouterr().err
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    password = start().variables[server.PASSWORD]
    assert len(password) >= server.SHORTEST
    assert capsys.readouterr().out.count(password) == 1
    assert start().variables[server.PASSWORD] != password
    with sqlite3.connect(outputs / "server" / server.USERS) as users:
        users.execute("CREATE TABLE users (username TEXT)")
        users.execute("INSERT INTO users VALUES ('admin')")
    capsys.readouterr()
    assert server.PASSWORD not in start().variables
    assert "password" not in capsys.readouterr().out


REJECTED: list[tuple[list[str], dict[str, str], str]] = [
    (["--store", "mysql://host/runs"], {}, "--store begins with mysql://; allowed: postgresql://"),
    (["--store", "postgresql+psycopg2://host/runs"], {}, "begins with postgresql+psycopg2://"),
    (["--store", "/some/folder"], {}, "--store is not the address of a database"),
    (["--store", "sqlite://"], {}, "--store begins with sqlite://; allowed"),
    (["--store", "sqlite:////nowhere/x.db"], {}, "database /nowhere/x.db cannot be used: unable"),
    (["--store", f"postgresql://u:{SECRET}@h/runs"], {}, "--store contains a password"),
    (["--store", f"postgresql://u@h/runs?password={SECRET}"], {}, "contains a password"),
    ([], {server.STORE: f"mssql://u:{SECRET}@h/runs"}, "MLFLOW_BACKEND_STORE_URI begins with"),
    ([], {server.STORE: f"postgresql://u:{SECRET}@127.0.0.1:9/runs"}, "127.0.0.1/runs cannot be"),
    (["--host", "0.0.0.0"], {}, "--host 0.0.0.0 is open to other machines"),
    (["--host", "192.0.2.1", "--allowed-hosts", "x"], {}, "cannot listen on --host 192.0.2.1"),
    (["--host", "no.such.invalid", "--allowed-hosts", "x"], {}, "cannot listen on --host no.such"),
    (["--port", "0"], {}, "--port 0 is not allowed"),
    (["--workers", "0"], {}, "--workers 0 is not allowed"),
    ([], {server.PASSWORD: server.STOCK}, "must have at least 12 characters"),
    ([], {server.PASSWORD: "short"}, "must have at least 12 characters"),
]


@pytest.mark.parametrize(("arguments", "variables", "line"), REJECTED)
def test_invalid_options_are_rejected_in_one_line(
    outputs: Path,
    start: object,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
    arguments: list[str],
    variables: dict[str, str],
    line: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert main(["server", "--port", str(free_port()), *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1, captured.err
    assert line in captured.err
    assert SECRET not in captured.err
    assert not list(outputs.iterdir())


def test_a_port_in_use_is_rejected(start: object, capsys: Capture) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["server", "--port", str(port)]) == 2
    assert (
        capsys.readouterr().err == f"bythebook: port {port} is in use; choose another with --port\n"
    )


@pytest.mark.parametrize("missing", ["flask_wtf", "psycopg"])
def test_a_missing_extra_is_named(
    start: object, monkeypatch: pytest.MonkeyPatch, capsys: Capture, missing: str
) -> None:
    def find(name: str) -> Any:
        return None if name == missing else object()

    monkeypatch.setattr("importlib.util.find_spec", find)
    assert main(["server", "--store", "postgresql://127.0.0.1:9/runs"]) == 2
    output = capsys.readouterr().err
    assert output == "bythebook: the server needs: pip install 'bythebook[server]'\n"
