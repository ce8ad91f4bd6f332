"""The MLflow store of the outputs folder, and the tracker for a setting of `tracking`."""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.store.locking import exclusive_lock
from bythebook.experiments.tracking import databases, sqlite_writer
from bythebook.experiments.tracking.client import (
    ClientTracker,
    restored_message,
    silence_mlflow,
    store_errors,
    unreachable,
)
from bythebook.experiments.tracking.payload import RUN_ID_TAG, Payload
from bythebook.experiments.tracking.relocation import repair_artifact_paths
from bythebook.experiments.tracking.tracker import Tracker


def make_tracker(kind: str, uri: str | None, outputs: Path) -> Tracker | None:
    """The tracker for `tracking=<kind>` and `tracking_uri=<uri>`; None for `off`."""
    if kind == "off":
        return None
    if kind == "server":
        if not uri:
            raise InputError("tracking=server needs tracking_uri=<address> or MLFLOW_TRACKING_URI")
        if not re.fullmatch(r"[\w+.-]+://[^\s'\"]+|databricks[^\s'\"]*", uri):
            # An address with @ may contain a password.
            shown = "tracking_uri" if "@" in uri else f"tracking_uri={uri}"
            raise InputError(f"{shown} is not an address; allowed: http://<host>:<port>")
        return ClientTracker(uri, None, outputs)
    return LocalTracker(outputs)


class LocalTracker(Tracker):
    """The store of the outputs folder: an SQLite file, and a folder of artifacts next to it."""

    def __init__(self, outputs: Path) -> None:
        self.database = outputs / "mlflow.db"
        self.artifacts = outputs / "mlartifacts"
        self.lock = outputs / ".mlflow.lock"
        self._location_checked = False
        self._messages: list[str] = []

    def pop_messages(self) -> list[str]:
        messages, self._messages = self._messages, []
        return messages

    @property
    def uri(self) -> str:
        return f"sqlite:///{self.database}"

    def log_runs(self, payloads: Sequence[Payload]) -> dict[str, str]:
        self.create_database()
        if sqlite_writer.has_supported_schema(self.database):
            names = {payload.experiment for payload in payloads}
            restored = sqlite_writer.restore_deleted_experiments(self.database, names)
            self._messages += map(restored_message, restored)
            return sqlite_writer.insert_runs(self.database, self.artifacts, payloads)
        with exclusive_lock(self.lock):  # the client checks and writes in separate transactions
            client = ClientTracker(self.uri, self.artifacts)
            try:
                return client.log_runs(payloads)
            finally:
                self._messages += client.pop_messages()

    def run_tags(self, tag: str) -> dict[str, str]:
        if not self.database.exists():
            return {}
        self._check_location()
        if sqlite_writer.has_supported_schema(self.database):
            return sqlite_writer.run_tags(self.database, tag)
        return ClientTracker(self.uri, self.artifacts).run_tags(tag)

    def child_runs(self, tag: str, value: str) -> set[str]:
        if not self.database.exists():
            return set()
        self._check_location()
        if sqlite_writer.has_supported_schema(self.database):
            return set(sqlite_writer.run_tags(self.database, tag, value))
        return ClientTracker(self.uri, self.artifacts).child_runs(tag, value)

    def find_logged(self, record_ids: Sequence[str], tag: str = RUN_ID_TAG) -> dict[str, str]:
        if not self.database.exists():
            return {}
        if sqlite_writer.has_supported_schema(self.database):
            return sqlite_writer.find_logged(self.database, record_ids, tag)
        return ClientTracker(self.uri, self.artifacts).find_logged(record_ids, tag)

    def experiment_names(self) -> dict[str, dict[str, str]]:
        if not self.database.exists():
            return {}
        if sqlite_writer.has_supported_schema(self.database):
            return sqlite_writer.experiment_names(self.database)
        return ClientTracker(self.uri, self.artifacts).experiment_names()

    def set_experiment_tags(self, tags: Mapping[str, Mapping[str, str]]) -> None:
        if tags and sqlite_writer.has_supported_schema(self.database):
            sqlite_writer.set_experiment_tags(self.database, tags)
        elif tags:
            ClientTracker(self.uri, self.artifacts).set_experiment_tags(tags)

    def create_database(self) -> None:
        """Create the database once: of several concurrent migrations by MLflow all but one fail."""
        if self.database.exists():
            self._check_location()
            return
        try:
            databases.create_atomically(self.database, self._migrate, self.lock)
        except store_errors() as error:
            raise unreachable(self.uri, error) from error

    def _check_location(self) -> None:
        """Check once that the folder is at the location that the store has recorded."""
        if not self._location_checked:
            self._location_checked = True
            with suppress(sqlite3.Error):  # the next write to the database reports the error
                self._messages += repair_artifact_paths(self.database, self.artifacts)

    def _migrate(self, address: str) -> Any:
        from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

        if set(address) & set("%?"):  # both have a meaning in an address
            raise OSError("MLflow cannot open a database in a folder with % or ? in its name")
        silence_mlflow()
        make: Any = SqlAlchemyStore
        return make(address, str(self.artifacts / "default"))
