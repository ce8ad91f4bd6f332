"""Create MLflow's SQLite databases atomically.

MLflow cannot continue a migration that was killed, and SQLite cannot undo one.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bythebook.experiments.store.locking import exclusive_lock


def create_atomically(database: Path, fill: Callable[[str], Any], lock: Path | None = None) -> None:
    """Fill a temporary database and rename it; a lock serialises the processes.

    `fill` is called with the address of the database, and returns the store that it opened.
    """
    if database.exists():
        return
    temporary = database.with_name(f".new-{database.name}")
    with exclusive_lock(lock or database.with_name(f".{database.name}.lock")):
        if database.exists():
            return
        for path in database.parent.glob(f"{temporary.name}*"):
            path.unlink()  # from a process that was killed: this one holds the lock
        temporary.touch()  # SQLite would create it without write permission for the group
        fill(f"sqlite:///{temporary}").engine.dispose()
        temporary.rename(database)
