"""Runs a function in a child process, which may crash, hang or exceed its memory."""

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
MAX_MEMORY_BYTES = 8 * 2**30  # a fault in an array size must not exhaust the machine


class Hung(NamedTuple):
    """The function exceeded its time limit."""

    seconds: float


class Broke(NamedTuple):
    """The function raised an exception, or the process was killed."""

    error: str


def in_child(work: Callable[[], T], seconds: float | None = None) -> T | Hung | Broke:
    """The value of `work`, computed in a fork of this process without output.

    The fork starts with the modules imported here; its own imports and changes end with it.
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
        # Only the child writes this file, so unpickling is safe.
        value: T | Broke = pickle.loads(answer.read_bytes())  # noqa: S301
        return value


def die_with_parent() -> None:
    """End this process when its parent is killed (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _work(work: Callable[[], T], answer: Path) -> None:
    """Run in the child: compute, write the answer, exit without returning to the caller."""
    try:
        die_with_parent()
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
        try:
            value: T | Broke = work()
        except BaseException as error:
            value = Broke(f"{type(error).__name__}: {error}"[:300])
        partial = answer.with_suffix(".part")
        partial.write_bytes(pickle.dumps(value))
        partial.replace(answer)
    finally:
        os._exit(0)


def _wait(child: int, seconds: float | None) -> bool:
    """True if the child ends within the time limit."""
    end = time.monotonic() + seconds if seconds is not None else float("inf")
    pause = 0.001
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > end:
            return False
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    return True


def _end(child: int) -> None:
    """Kill the child and its process group; its id stays valid until it is waited for."""
    for end in (os.killpg, os.kill):
        try:
            end(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
    os.waitpid(child, 0)
