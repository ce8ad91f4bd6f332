"""End a server when the command that started it ends, for any reason.

The command holds a lock, and each process of its server waits for the lock in a thread. The system
releases the lock when the command ends, also if it is killed. Standard input cannot be used: the
workers of a server have none.
"""

import fcntl
import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

LOCK_ENV = "BYTHEBOOK_ALIVE"  # the variable with the path of the lock file
SHUTDOWN_S = 5.0  # to close connections


def hold_lock(path: Path) -> int:
    """Hold the lock until this process ends; child processes do not inherit it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def exit_with_parent() -> None:
    """End this process when the command has ended, if a command has started it."""
    path = os.environ.get(LOCK_ENV)
    if path:
        threading.Thread(target=_end_with, args=(path, os.getppid()), daemon=True).start()


def _end_with(path: str, parent: int) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    # The supervisor of a worker would otherwise start a new worker.
    if multiprocessing.parent_process() is not None and os.getppid() == parent:
        os.kill(parent, signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SHUTDOWN_S)
    os._exit(1)
