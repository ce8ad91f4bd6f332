"""`bythebook server`: MLflow's server for several machines, with passwords, by default on loopback.

The command starts MLflow's own server with users and passwords
(`bythebook.experiments.tracking.server_app`), allowed host names, artifacts through MLflow's proxy,
and one worker. Secrets are passed in environment variables.
"""

import argparse
import errno
import importlib.util
import ipaddress
import os
import secrets
import socket
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from bythebook.experiments.cli import console
from bythebook.experiments.config.paths import ensure_writable, resolve_output_dir
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.safe_path import SAFE_PATH
from bythebook.experiments.tracking import parent_watch, server_app

if TYPE_CHECKING:
    from sqlalchemy import URL

STORE, PASSWORD = server_app.STORE, "MLFLOW_AUTH_ADMIN_PASSWORD"
USERS = "users.db"
SHORTEST = 12  # characters of a password, by MLflow's own rule
STOCK = "password1234"  # what MLflow once shipped
# Experiments are studies, which all users share, so every user may add runs. MLflow must not cache
# passwords, because its workers are not notified when a password changes.
SETTINGS = f"""[mlflow]
default_permission = EDIT
database_uri = sqlite:///{USERS}
admin_username = admin
authorization_function = mlflow.server.auth:authenticate_request_basic_auth
auth_cache_ttl_seconds = 0
"""
# Allowed locations of a model: a run, another model, or MLflow's proxy; and the word that MLflow's
# pages use for a model without a location.
SOURCES = r"^(?:(?:runs|models|mlflow-artifacts):|dummy-source\Z)"
QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # eight more processes, for language models
}


def main(options: argparse.Namespace) -> NoReturn:
    """Check the options and the database, then replace this process by MLflow's server."""
    outputs = resolve_output_dir(options.outputs)
    store = _store(options.store, os.environ.get(STORE))
    _check_installed(store)
    _check_place(options.host, options.port, options.allowed_hosts, options.workers)
    folder = ensure_writable(outputs) / "server"
    if store is not None:
        _check_reachable(store)
    generated = _new_password(folder / USERS)
    _settle(folder)
    if generated:
        print(f"created the user {_admin()} with the password {generated} (shown once, not stored)")
    if not _is_loopback(options.host):
        console.notify("passwords are sent unencrypted; put a TLS proxy in front: docs/server.md")
    shown = f"[{options.host}]" if ":" in options.host else options.host
    print(f"serving on http://{shown}:{options.port} (Ctrl-C to stop)", flush=True)
    command = _command(options, folder)
    os.chdir(folder)  # the databases are named relative to it
    os.execve(sys.executable, command, _variables(options, store, folder, generated))  # noqa: S606


def _command(options: argparse.Namespace, folder: Path) -> list[str]:
    artifacts = Path(options.artifacts or folder / "artifacts").expanduser().absolute()
    others = other_names(options.allowed_hosts, options.port)
    names = ",".join(own_names(options.host, options.port) + others)
    command = [sys.executable, "-m", server_app.__name__]
    command += ["--host", options.host, "--port", str(options.port), "--allowed-hosts", names]
    return [*command, "--workers", str(options.workers), "--artifacts-destination", str(artifacts)]


def _variables(
    options: argparse.Namespace, store: "URL | None", folder: Path, generated: str | None
) -> dict[str, str]:
    """The environment variables of MLflow: all secrets, and settings without an option."""
    others = other_names(options.allowed_hosts, options.port)
    return {
        **QUIET,
        "MLFLOW_FLASK_SERVER_SECRET_KEY": secrets.token_hex(32),
        "MLFLOW_SERVER_CORS_ALLOWED_ORIGINS": ",".join(origins(others)),
        **os.environ,
        **SAFE_PATH,  # the folder holds what others upload: nothing to import
        **({PASSWORD: generated} if generated else {}),
        "MLFLOW_AUTH_CONFIG_PATH": str(folder / "auth.ini"),
        "MLFLOW_CREATE_MODEL_VERSION_SOURCE_VALIDATION_REGEX": SOURCES,
        parent_watch.LOCK_ENV: str(folder / f".alive-{options.port}"),
        STORE: store.render_as_string(hide_password=False) if store else "sqlite:///mlflow.db",
    }


def _store(typed: str | None, inherited: str | None) -> "URL | None":
    """The address of the database with the installed driver; None for a file in the outputs."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    if not typed and not inherited:
        return None
    name = "--store" if typed else STORE
    allowed = "allowed: postgresql://user@host/name, sqlite:////folder/file.db"
    try:
        url = make_url(typed or inherited or "")
    except (ArgumentError, ValueError) as error:
        raise InputError(f"{name} is not the address of a database; {allowed}") from error
    if typed and (url.password is not None or "password" in url.query):
        raise InputError(
            f"{name} contains a password, which other users of this machine can see; put the"
            f" password into PGPASSWORD or ~/.pgpass, or the complete address into {STORE}"
        )
    if url.drivername in ("postgresql", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    if url.drivername == "sqlite" and url.database and url.database != ":memory:":
        return url.set(database=str(Path(url.database).absolute()))
    raise InputError(f"{name} begins with {url.drivername}://; {allowed}")


def _check_installed(store: "URL | None") -> None:
    needed = ["flask_wtf", "psycopg"] if store and store.drivername != "sqlite" else ["flask_wtf"]
    if not all(importlib.util.find_spec(name) for name in needed):
        raise InputError("the server needs: pip install 'bythebook[server]'")


def _check_place(host: str, port: int, allowed: str | None, workers: int) -> None:
    if workers < 1:
        raise InputError(f"--workers {workers} is not allowed; allowed: int >= 1")
    if not _is_loopback(host) and not allowed:
        raise InputError(
            f"--host {host} is open to other machines and requires --allowed-hosts with the names"
            " of this server, such as mlflow.example.org"
        )
    check_port(host, port)


def check_port(host: str, port: int) -> None:
    """Raise `InputError` if no server can listen on the address now."""
    if not 0 < port < 65536:
        raise InputError(f"--port {port} is not allowed; allowed: 1 to 65535")
    try:
        (family, kind, _, _, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InputError(f"port {port} is in use; choose another with --port") from error
        reason = error.strerror or error
        raise InputError(f"cannot listen on --host {host} --port {port}: {reason}") from error


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def is_any(host: str) -> bool:
    """Whether it stands for every address of this machine."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_unspecified
    return not host


def _check_reachable(store: "URL") -> None:
    from sqlalchemy import create_engine, inspect
    from sqlalchemy.exc import SQLAlchemyError

    local = store.drivername == "sqlite"
    engine = create_engine(store, connect_args={} if local else {"connect_timeout": 10})
    try:
        inspect(engine).has_table("alembic_version")
    except SQLAlchemyError as error:
        place = store.database if local else f"{store.host or 'localhost'}/{store.database}"
        reason = str(getattr(error, "orig", None) or error).replace(store.password or "\0", "***")
        raise InputError(f"the database {place} cannot be used: {reason}") from error
    finally:
        engine.dispose()


def _new_password(users: Path) -> str | None:
    """A generated password for the admin, unless there is an admin or a configured password."""
    if _knows_admin(users):
        return None
    given = os.environ.get(PASSWORD)
    if given is None and sys.stdout.isatty():
        return secrets.token_urlsafe(18)
    if given is None:
        raise InputError(f"no admin user and no terminal to show a password: set {PASSWORD}")
    if len(given) < SHORTEST or given == STOCK:
        raise InputError(
            f"{PASSWORD} must have at least {SHORTEST} characters and not be a default password"
        )
    return None


def _admin() -> str:
    return os.environ.get("MLFLOW_AUTH_ADMIN_USERNAME") or "admin"


def _knows_admin(users: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{users.as_uri()}?mode=ro", uri=True)) as database:
            sql = "SELECT count(*) FROM users WHERE username = ?"
            return bool(database.execute(sql, [_admin()]).fetchone()[0])
    except sqlite3.Error:
        return False


def _settle(folder: Path) -> None:
    """Create the server's folder without access for other users: it holds password hashes."""
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "auth.ini").write_text(SETTINGS, encoding="utf-8")


def own_names(host: str, port: int) -> list[str]:
    """The host names for requests from this machine, and the address that the server listens on."""
    own = dict.fromkeys(["localhost", "127.0.0.1", "[::1]"])
    if not is_any(host):
        own[f"[{host}]" if ":" in host else host] = None
    return [f"{name}:{port}" for name in own]


def other_names(allowed: str | None, port: int) -> list[str]:
    """The host names for requests from other machines, with and without the port."""
    given = [name.strip() for name in (allowed or "").split(",") if name.strip()]
    bare = [name for name in given if "*" not in name and not name.rpartition(":")[2].isdecimal()]
    return given + [f"{name}:{port}" for name in bare]


def origins(names: list[str]) -> list[str]:
    """The origins of this server's pages under these names, from which a browser may write."""
    return [f"{scheme}://{name}" for name in names if name != "*" for scheme in ("http", "https")]
