"""The store of the outputs folder, and the tracker that a configuration asks for."""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from experiments.contract.errors import BadInput
from experiments.records.locks import exclusive
from experiments.tracking import databases, sqlite
from experiments.tracking.client import ClientTracker, quiet, restored, store_errors, unreachable
from experiments.tracking.moved import mended
from experiments.tracking.runs import RUN_ID, Payload
from experiments.tracking.tracker import Tracker


def open_tracker(kind: str, uri: str | None, outputs: Path) -> Tracker | None:
    """The tracker a configuration asks for."""
    if kind == "off":
        return None
    if kind == "server":
        if not uri:
            raise BadInput("tracking=server needs tracking.uri=<address> or MLFLOW_TRACKING_URI")
        if not re.fullmatch(r"[\w+.-]+://[^\s'\"]+|databricks[^\s'\"]*", uri):
            shown = "tracking.uri" if "@" in uri else f"tracking.uri={uri}"  # perhaps a password
            raise BadInput(f"{shown} is not an address; allowed: http://<host>:<port>")
        return ClientTracker(uri, None, outputs)
    return LocalTracker(outputs)


class LocalTracker(Tracker):
    """The store of the outputs folder: one SQLite file, artifacts beside it."""

    def __init__(self, outputs: Path) -> None:
        self.database = outputs / "mlflow.db"
        self.artifacts = outputs / "mlartifacts"
        self.lock = outputs / ".mlflow.lock"
        self._settled = False
        self._news: list[str] = []

    def news(self) -> list[str]:
        told, self._news = self._news, []
        return told

    @property
    def uri(self) -> str:
        return f"sqlite:///{self.database}"

    def put(self, payloads: Sequence[Payload]) -> dict[str, str]:
        self.create()
        if sqlite.understands(self.database):
            names = {payload.experiment for payload in payloads}
            self._news += map(restored, sqlite.revived(self.database, names))
            return sqlite.put(self.database, self.artifacts, payloads)
        with exclusive(self.lock):  # the client checks and writes in separate transactions
            client = ClientTracker(self.uri, self.artifacts)
            try:
                return client.put(payloads)
            finally:
                self._news += client.news()

    def tagged(self, tag: str) -> dict[str, str]:
        if not self.database.exists():
            return {}
        self._settle()
        if sqlite.understands(self.database):
            return sqlite.tagged(self.database, tag)
        return ClientTracker(self.uri, self.artifacts).tagged(tag)

    def below(self, tag: str, value: str) -> set[str]:
        if not self.database.exists():
            return set()
        self._settle()
        if sqlite.understands(self.database):
            return set(sqlite.tagged(self.database, tag, value))
        return ClientTracker(self.uri, self.artifacts).below(tag, value)

    def among(self, record_ids: Sequence[str], tag: str = RUN_ID) -> dict[str, str]:
        if not self.database.exists():
            return {}
        if sqlite.understands(self.database):
            return sqlite.among(self.database, record_ids, tag)
        return ClientTracker(self.uri, self.artifacts).among(record_ids, tag)

    def experiments(self) -> dict[str, dict[str, str]]:
        if not self.database.exists():
            return {}
        if sqlite.understands(self.database):
            return sqlite.experiments(self.database)
        return ClientTracker(self.uri, self.artifacts).experiments()

    def describe(self, tags: Mapping[str, Mapping[str, str]]) -> None:
        if tags and sqlite.understands(self.database):
            sqlite.describe(self.database, tags)
        elif tags:
            ClientTracker(self.uri, self.artifacts).describe(tags)

    def create(self) -> None:
        """Make the database once: MLflow's own migration loses all but one of several at a time."""
        if self.database.exists():
            self._settle()
            return
        try:
            databases.make(self.database, self._migrate, self.lock)
        except store_errors() as error:
            raise unreachable(self.uri, error) from error

    def _settle(self) -> None:
        """See once whether the folder is still where the store thinks it is."""
        if not self._settled:
            self._settled = True
            with suppress(sqlite3.Error):  # whoever writes to it will say what is wrong
                self._news += mended(self.database, self.artifacts)

    def _migrate(self, address: str) -> Any:
        from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

        if set(address) & set("%?"):  # they mean something else in an address
            raise OSError("MLflow opens no database in a folder with % or ? in its name")
        quiet()
        make: Any = SqlAlchemyStore
        return make(address, str(self.artifacts / "default"))
