"""An in-memory index of the run ids in a local MLflow database, with eight bytes per id.

MLflow's tables have no index by the value of a tag: each search for a thousand records among a
million would read a million rows. This index reads new rows only. It holds digests of the ids: an
id that is not in the index is not in the database; an id in the index is looked up there.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from bythebook.experiments.tracking.payload import RUN_ID_TAG
from bythebook.models.types import Ints

_MAX_RECENT = 50_000  # digests in a set, before they are added to the sorted array
_BATCH_SIZE = 10_000  # rows


class KnownRunIds:
    """The digests of the run ids in a database, as far as it has been read."""

    def __init__(self) -> None:
        self._row = 0  # the last row that was read
        self._sorted: Ints = np.empty(0, np.int64)
        self._recent: set[int] = set()

    def read(self, db: sqlite3.Connection) -> "KnownRunIds":
        """Read the new rows, also those that other processes have written."""
        last = db.execute("SELECT max(rowid) FROM tags").fetchone()[0] or 0
        if last < self._row:  # runs were removed
            self.__init__()  # type: ignore[misc]
        rows = db.execute(
            "SELECT value FROM tags WHERE rowid > ? AND rowid <= ? AND key = ?",
            [self._row, last, RUN_ID_TAG],
        )
        while part := rows.fetchmany(_BATCH_SIZE):
            self._add(value for (value,) in part)
        self._row = last
        return self

    def _add(self, record_ids: Iterable[str]) -> None:
        self._recent.update(map(_digest, record_ids))
        if len(self._recent) > _MAX_RECENT:
            recent = np.fromiter(self._recent, np.int64, len(self._recent))
            self._sorted = np.union1d(self._sorted, recent)
            self._recent = set()

    def find_logged(self, record_ids: Sequence[str]) -> list[str]:
        """Those of these records that may be in the database."""
        digests = [_digest(record_id) for record_id in record_ids]
        known = np.zeros(len(digests), bool)
        if len(self._sorted):
            indices = np.searchsorted(self._sorted, np.array(digests, np.int64))
            known = self._sorted[np.minimum(indices, len(self._sorted) - 1)] == digests
        return [
            record_id
            for record_id, digest, is_known in zip(record_ids, digests, known, strict=True)
            if is_known or digest in self._recent
        ]


def known_run_ids(database: Path, db: sqlite3.Connection) -> KnownRunIds:
    """The index of a database, up to date; a transaction keeps other processes from writing."""
    stat = database.stat()
    return _run_id_digests(database, stat.st_dev, stat.st_ino).read(db)


@lru_cache(maxsize=8)
def _run_id_digests(_database: Path, _device: int, _inode: int) -> KnownRunIds:
    return KnownRunIds()


def _digest(record_id: str) -> int:
    digest = hashlib.blake2b(record_id.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
