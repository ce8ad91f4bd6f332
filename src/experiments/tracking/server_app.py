"""MLflow's server for `bythebook server`, with authentication and confined artifact locations.

`bythebook.experiments.tracking.logins` checks passwords. Artifacts are stored below one folder,
also if a user sends another location, and only an admin may list the users. MLflow loads this
application through the entry point `mlflow.app` (`--app-name bythebook-server`).
"""

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bythebook.experiments.tracking import databases, parent_watch
from bythebook.experiments.tracking.logins import Door, remembering

NAME = "bythebook-server"
STORE = "MLFLOW_BACKEND_STORE_URI"
SCHEME = "mlflow-artifacts"
INDIRECT = ("runs", "models")  # they end at another address, which is looked at then


def create_app() -> Door:
    """The application that every worker of the server starts."""
    from mlflow.server import auth, constants, handlers
    from mlflow.server.auth import routes, sqlalchemy_store

    parent_watch.exit_with_parent()
    users: Any = sqlalchemy_store
    users.check_password_hash = remembering(users.check_password_hash)
    keep_below(Path(os.environ[constants.ARTIFACTS_DESTINATION_ENV_VAR]))
    settings: Any = handlers
    settings._validate_storage_location_uri = _own(settings._validate_storage_location_uri)
    for path in (routes.LIST_USERS, routes.AJAX_LIST_USERS):
        auth.BEFORE_REQUEST_VALIDATORS[path, "GET"] = _nobody  # of an admin it asks nothing
    return Door(auth.create_app(), partial(_is_right, auth.store))


def keep_below(root: Path) -> None:
    """Let this process read and write artifacts below one folder alone."""
    from mlflow.store.artifact import artifact_repository_registry as registry
    from mlflow.store.artifact.local_artifact_repo import LocalArtifactRepository

    base: Any = LocalArtifactRepository

    class Below(base):  # type: ignore[misc]
        def __init__(self, artifact_uri: str, *arguments: Any, **options: Any) -> None:
            super().__init__(artifact_uri, *arguments, **options)
            if not Path(self.artifact_dir).resolve().is_relative_to(root.resolve()):
                raise _refusal(artifact_uri)

    known: dict[str, Any] = registry.get_registered_artifact_repositories()
    for scheme in [*known]:
        if scheme not in (SCHEME, *INDIRECT):
            known[scheme] = Below if scheme in ("", "file") else _elsewhere


def _elsewhere(artifact_uri: str, *_: Any, **__: Any) -> Any:
    raise _refusal(artifact_uri)


def _own(validate: Callable[[str, str], str]) -> Callable[[str, str], str]:
    """Accept from a user only locations that the server itself could have chosen."""

    def validated(value: str, field_name: str) -> str:
        parts = urlsplit(value)
        own = parts.scheme == SCHEME and not (parts.netloc or parts.query or parts.fragment)
        if not own or "%" in parts.path or ".." in parts.path.replace("\\", "/").split("/"):
            raise _refusal(value)
        return validate(value, field_name)

    return validated


def _refusal(location: str) -> Exception:
    from mlflow.exceptions import MlflowException

    refused: Exception = MlflowException.invalid_parameter_value(
        f"artifacts are kept below the server's own folder: {location!r} is not;"
        f" leave the location out, or say {SCHEME}:/<path>"
    )
    return refused


def _nobody() -> bool:
    return False


def _is_right(users: Any, name: str, password: str) -> bool:
    """Is it the user's password? A name that does not exist takes as long to refuse."""
    if users.has_user(name):
        return bool(users.authenticate_user(name, password))
    from werkzeug.security import generate_password_hash

    generate_password_hash(password)
    return False


def make_whole(address: str, fill: Callable[[str], Any]) -> None:
    """A database that is a file, by its address; PostgreSQL takes back half a migration itself."""
    if address.startswith("sqlite:///"):
        databases.create_atomically(Path(address.removeprefix("sqlite:///")), fill)


def _runs(address: str) -> Any:
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    make: Any = SqlAlchemyStore
    return make(address, f"{SCHEME}:/")


def _users(address: str) -> Any:
    from mlflow.server.auth import sqlalchemy_store

    users: Any = sqlalchemy_store.SqlAlchemyStore()
    users.init_db(address)
    return users


def main(arguments: list[str]) -> None:
    """Make databases and admin before any worker is there, then become MLflow's server."""
    from mlflow.cli import cli
    from mlflow.exceptions import MlflowException
    from mlflow.server.auth import auth_config, bootstrap_admin_user

    parent_watch.hold_lock(Path(os.environ[parent_watch.LOCK_ENV]))
    make_whole(os.environ[STORE], _runs)
    make_whole(auth_config.database_uri, _users)
    try:
        bootstrap_admin_user()
    except MlflowException as error:
        sys.exit(f"bythebook: {error}")
    cli(["server", "--app-name", NAME, *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
