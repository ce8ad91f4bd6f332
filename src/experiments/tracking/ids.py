"""Which records a local store has heard of: eight bytes for each, read once and then what is new.

MLflow's tables have no index by the value of a tag: to look for a thousand records among a million
would read a million rows each time. Whoever is not in here is not in the store; whoever is may be.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from models.types import Ints

TAG = "bythebook.run_id"
_RECENT = 50_000  # digests in a set, before they are sorted in
_AT_ONCE = 10_000  # rows


class Seen:
    """The digests of the records in a store, as far as it has been read."""

    def __init__(self) -> None:
        self._row = 0  # the last that was read
        self._sorted: Ints = np.empty(0, np.int64)
        self._recent: set[int] = set()

    def read(self, db: sqlite3.Connection) -> "Seen":
        """Look at the rows that are new, also at those of others."""
        last = db.execute("SELECT max(rowid) FROM tags").fetchone()[0] or 0
        if last < self._row:  # somebody removed runs
            self.__init__()  # type: ignore[misc]
        rows = db.execute(
            "SELECT value FROM tags WHERE rowid > ? AND rowid <= ? AND key = ?",
            [self._row, last, TAG],
        )
        while part := rows.fetchmany(_AT_ONCE):
            self._add(value for (value,) in part)
        self._row = last
        return self

    def _add(self, record_ids: Iterable[str]) -> None:
        self._recent.update(map(_digest, record_ids))
        if len(self._recent) > _RECENT:
            recent = np.fromiter(self._recent, np.int64, len(self._recent))
            self._sorted = np.union1d(self._sorted, recent)
            self._recent = set()

    def among(self, record_ids: Sequence[str]) -> list[str]:
        """Those of these records that may be in the store."""
        digests = [_digest(record_id) for record_id in record_ids]
        places = np.searchsorted(self._sorted, np.array(digests, np.int64))
        places = np.minimum(places, max(0, len(self._sorted) - 1))
        old = self._sorted[places] == digests if len(self._sorted) else np.zeros(len(digests), bool)
        return [
            record_id
            for record_id, digest, known in zip(record_ids, digests, old, strict=True)
            if known or digest in self._recent
        ]


def seen_in(database: Path, db: sqlite3.Connection) -> Seen:
    """What a store has heard of by now; a transaction keeps others from adding to it."""
    stat = database.stat()
    return _of(database, stat.st_dev, stat.st_ino).read(db)


@lru_cache(maxsize=8)
def _of(_database: Path, _device: int, _inode: int) -> Seen:
    return Seen()


def _digest(record_id: str) -> int:
    digest = hashlib.blake2b(record_id.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
