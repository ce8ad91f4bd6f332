"""SQLite databases of MLflow's, there whole or not at all.

SQLite cannot take back half of a migration: one that is killed in the middle never goes on.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments.records.locks import exclusive


def make(database: Path, fill: Callable[[str], Any], lock: Path | None = None) -> None:
    """Fill a database aside, by its address, and give it its name; several processes take turns.

    What fills it returns the store that it opened, to be closed.
    """
    if database.exists():
        return
    aside = database.with_name(f".new-{database.name}")
    with exclusive(lock or database.with_name(f".{database.name}.lock")):
        if database.exists():
            return
        for left in database.parent.glob(f"{aside.name}*"):
            left.unlink()  # by a process that was killed: we hold the lock
        aside.touch()  # SQLite itself would let nobody else write, whatever the umask says
        fill(f"sqlite:///{aside}").engine.dispose()
        aside.rename(database)
