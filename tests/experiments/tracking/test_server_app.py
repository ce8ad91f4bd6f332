"""What `bythebook server` adds to MLflow, and that MLflow still has the places for it.

The server itself is started by the tests in tests/faults.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.tracking import server_app

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn
ROOT = Path(__file__).parents[3]


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A folder below which alone this process keeps artifacts, until the test is over."""
    from mlflow.store.artifact import artifact_repository_registry as registry

    known = registry.get_registered_artifact_repositories()
    before = dict(known)
    folder = tmp_path / "artifacts"
    folder.mkdir()
    (folder / "out").symlink_to(tmp_path)
    server_app.keep_below(folder)
    yield folder
    known.clear()
    known.update(before)


def repository(location: str) -> Any:
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

    return get_artifact_repository(location)


def test_artifacts_are_kept_below_the_servers_folder(root: Path) -> None:
    from mlflow.exceptions import MlflowException

    assert repository(str(root)).artifact_dir == str(root)
    assert repository(f"{root}/1/run").artifact_dir == f"{root}/1/run"
    assert repository((root / "a").as_uri()).artifact_dir == f"{root}/a"
    outside = [
        str(root.parent),
        f"{root}-sibling",
        f"{root}/../elsewhere",
        f"{root}/out/elsewhere",
        f"file://{root}/%2e%2e/elsewhere",
        root.parent.as_uri(),
        "relative",
        "/etc",
        "s3://bucket/x",
        "gs://bucket/x",
        "ftp://127.0.0.1:9/x",
        "http://127.0.0.1:9/x",
        "dbfs:/x",
    ]
    for location in outside:
        with pytest.raises(MlflowException) as refused:
            repository(location)
        assert 400 <= refused.value.get_http_status_code() < 500, location


OWN = ["mlflow-artifacts:/1", "mlflow-artifacts:/a/b.c/..d"]
FOREIGN = [
    "file:///anywhere",
    "/anywhere",
    "anywhere",
    "..",
    "FILE:///anywhere",
    "s3://bucket/x",
    "http://127.0.0.1:9/x",
    "unknown:/x",
    "runs:/x",
    "mlflow-artifacts:/../x",
    "mlflow-artifacts:/a/..",
    "mlflow-artifacts:/a/%2e%2e/x",
    "mlflow-artifacts:/a\\..\\x",
    "mlflow-artifacts://another.host/x",
    "mlflow-artifacts:/x?y=z",
    "mlflow-artifacts:/x#y",
]


def test_a_location_that_a_user_states_is_one_of_the_servers_own() -> None:
    from mlflow.exceptions import MlflowException
    from mlflow.server import handlers

    validate = server_app._own(handlers._validate_storage_location_uri)
    for location in OWN:
        assert validate(location, "artifact_location") == location
    for location in FOREIGN:
        with pytest.raises(MlflowException, match="artifacts are kept below the server's own"):
            validate(location, "artifact_location")


def test_mlflow_has_the_places_that_are_changed() -> None:
    pytest.importorskip("flask_wtf")
    from mlflow.server import auth, constants
    from mlflow.server.auth import routes, sqlalchemy_store

    assert callable(sqlalchemy_store.check_password_hash)
    assert (
        "check_password_hash"
        in sqlalchemy_store.SqlAlchemyStore.authenticate_user.__code__.co_names
    )
    for path in (routes.LIST_USERS, routes.AJAX_LIST_USERS):
        assert (path, "GET") in auth.BEFORE_REQUEST_VALIDATORS
    assert constants.ARTIFACTS_DESTINATION_ENV_VAR
    assert "_validate_storage_location_uri" in _names("_create_experiment")


def _names(handler: str) -> tuple[str, ...]:
    from inspect import unwrap

    from mlflow.server import handlers

    names: tuple[str, ...] = unwrap(getattr(handlers, handler)).__code__.co_names
    return names


def test_a_name_that_does_not_exist_is_refused_after_as_much_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counted, not timed: each refusal makes one hash."""
    import werkzeug.security

    made: list[str] = []

    class Users:
        def has_user(self, name: str) -> bool:
            return name == "alice"

        def authenticate_user(self, name: str, password: str) -> bool:
            made.append(name)
            return password == "right"

    hashed = werkzeug.security.generate_password_hash
    monkeypatch.setattr(
        "werkzeug.security.generate_password_hash",
        lambda password: made.append("nobody") or hashed(password),  # type: ignore[func-returns-value]
    )
    assert server_app._is_right(Users(), "alice", "right")
    assert not server_app._is_right(Users(), "alice", "wrong")
    assert not server_app._is_right(Users(), "carol", "right")
    assert made == ["alice", "alice", "nobody"]


def test_mlflow_finds_the_application_by_its_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = project["entry-points"]["mlflow.app"][server_app.NAME]
    assert found == f"{server_app.__name__}:{server_app.create_app.__name__}"
