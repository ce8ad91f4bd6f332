"""Work in a child process that may crash, hang or eat memory, and is gone afterwards."""

import ctypes
import os
import pickle
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeVar

T = TypeVar("T")
MEMORY = 8 * 2**30  # bytes: a fault in a size must not take the machine with it


class Hung(NamedTuple):
    """It took longer than it may."""

    seconds: float


class Broke(NamedTuple):
    """It raised, or was killed."""

    error: str


def in_child(work: Callable[[], T], seconds: float | None = None) -> T | Hung | Broke:
    """What the work gives, done in a fork of this process with its output thrown away.

    The fork has what is imported here, and whatever it imports or changes ends with it.
    """
    with TemporaryDirectory(prefix="mutant-") as folder:
        answer = Path(folder) / "answer"
        child = os.fork()
        if child == 0:
            _work(work, answer)
        try:
            ended = _wait(child, seconds)
        finally:
            _end(child)
        if not ended:
            return Hung(seconds or 0.0)
        if not answer.exists():
            return Broke("the process died")
        # Written by the child, and by nobody else.
        found: T | Broke = pickle.loads(answer.read_bytes())  # noqa: S301
        return found


def die_with_parent() -> None:
    """Let nobody run on whose parent was killed (Linux; elsewhere it ends by itself)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _work(work: Callable[[], T], answer: Path) -> None:
    """The child's whole life: it never returns to the code that forked it."""
    try:
        die_with_parent()
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            found: T | Broke = work()
        except BaseException as error:
            found = Broke(f"{type(error).__name__}: {error}"[:300])
        aside = answer.with_suffix(".part")
        aside.write_bytes(pickle.dumps(found))
        aside.replace(answer)
    finally:
        os._exit(0)


def _wait(child: int, seconds: float | None) -> bool:
    """Has it ended within its time?"""
    end = time.monotonic() + seconds if seconds is not None else float("inf")
    pause = 0.001
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > end:
            return False
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    return True


def _end(child: int) -> None:
    """End the child, and what it may have started; it is one of ours until it is waited for."""
    for end in (os.killpg, os.kill):
        try:
            end(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
    os.waitpid(child, 0)
