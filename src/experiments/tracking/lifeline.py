"""A server that never outlives the command that started it, however that ends.

The command holds a lock for as long as it lives, and each process of its server waits for it: the
system lets go of a lock with the process that holds it, killed or not. Standard input would do for
one process; the workers of a server have none.
"""

import fcntl
import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

ALIVE = "BYTHEBOOK_ALIVE"  # the file whose lock the command holds
GRACE = 5.0  # seconds to close connections


def hold(path: Path) -> int:
    """Hold the lock until this process ends; no process that it starts inherits it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def watch() -> None:
    """End this process when the command has ended, if there is one."""
    path = os.environ.get(ALIVE)
    if path:
        threading.Thread(target=_end_with, args=(path, os.getppid()), daemon=True).start()


def _end_with(path: str, parent: int) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    # A worker's supervisor would start another in its place.
    if multiprocessing.parent_process() is not None and os.getppid() == parent:
        os.kill(parent, signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)
