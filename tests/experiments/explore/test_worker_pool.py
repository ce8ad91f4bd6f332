"""Worker processes: superseded, cancelled, killed and background runs."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bythebook.experiments.explore.worker_pool import RunCancelled, WorkerPool

from .conftest import completed

LONG = 600.0  # seconds, longer than any test


def run_scenario(scenario: Callable[[WorkerPool], Awaitable[None]], count: int = 2) -> None:
    async def run() -> None:
        workers = WorkerPool(count)
        try:
            await scenario(workers)
        finally:
            workers.close()

    completed(run())


def blocked(path: str) -> None:
    """A run that writes its process id and does not end."""
    Path(path).write_text(str(os.getpid()))
    time.sleep(LONG)


def killed() -> None:
    """A run whose process is killed."""
    os.kill(os.getpid(), signal.SIGKILL)


async def started(path: Path) -> int:
    """The process id of a blocked run, as soon as it has started."""
    while not (path.exists() and path.read_text()):
        await asyncio.sleep(0.02)
    return int(path.read_text())


async def ended(pid: int) -> None:
    """Wait until a process has ended."""
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        await asyncio.sleep(0.02)


def test_a_worker_is_used_again() -> None:
    async def scenario(workers: WorkerPool) -> None:
        first = await workers.run("a", os.getpid)
        assert first != os.getpid()
        assert await workers.run("b", os.getpid) == first

    run_scenario(scenario)


def test_a_newer_run_of_a_tab_supersedes_the_older(tmp_path: Path) -> None:
    async def scenario(workers: WorkerPool) -> None:
        older = asyncio.ensure_future(workers.run("a", blocked, str(tmp_path / "a")))
        pid = await started(tmp_path / "a")
        assert await workers.run("a", abs, -3) == 3
        with pytest.raises(RunCancelled, match="superseded by a newer run"):
            await older
        await ended(pid)

    run_scenario(scenario, count=1)  # the newer run gets the worker of the older


def test_tabs_do_not_disturb_each_other(tmp_path: Path) -> None:
    async def scenario(workers: WorkerPool) -> None:
        other = asyncio.ensure_future(workers.run("b", blocked, str(tmp_path / "b")))
        pid = await started(tmp_path / "b")
        assert await workers.run("a", abs, -3) == 3
        assert not workers.cancel("a")  # the tab has no run
        assert not other.done()
        os.kill(pid, 0)
        assert workers.cancel("b")
        with pytest.raises(RunCancelled, match="cancelled"):
            await other
        await ended(pid)
        assert await workers.run("b", abs, -4) == 4

    run_scenario(scenario)


def test_a_waiting_run_can_be_superseded(tmp_path: Path) -> None:
    async def scenario(workers: WorkerPool) -> None:
        first = asyncio.ensure_future(workers.run("a", blocked, str(tmp_path / "a")))
        await started(tmp_path / "a")
        waiting = asyncio.ensure_future(workers.run("b", abs, -1))
        await asyncio.sleep(0.05)
        newest = asyncio.ensure_future(workers.run("b", abs, -2))
        with pytest.raises(RunCancelled, match="superseded"):
            await waiting
        workers.cancel("a")
        assert await newest == 2
        with pytest.raises(RunCancelled):
            await first

    run_scenario(scenario, count=1)


def test_background_runs_do_not_delay_others(tmp_path: Path) -> None:
    async def scenario(workers: WorkerPool) -> None:
        first = asyncio.ensure_future(
            workers.run("a-published", blocked, str(tmp_path / "a"), background=True)
        )
        await started(tmp_path / "a")
        assert await workers.run("b", abs, -2) == 2
        second = asyncio.ensure_future(workers.run("b-published", abs, -3, background=True))
        assert await workers.run("b", abs, -4) == 4
        assert not second.done()  # one at a time
        workers.cancel("a-published")
        assert await second == 3
        with pytest.raises(RunCancelled):
            await first

    run_scenario(scenario, count=1)


def test_a_cancelled_caller_stops_the_run(tmp_path: Path) -> None:
    async def scenario(workers: WorkerPool) -> None:
        call = asyncio.ensure_future(workers.run("a", blocked, str(tmp_path / "a")))
        pid = await started(tmp_path / "a")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await ended(pid)

    run_scenario(scenario)


def test_a_worker_that_dies_or_hangs_is_replaced(tmp_path: Path) -> None:
    async def scenario(workers: WorkerPool) -> None:
        with pytest.raises(RunCancelled, match="was killed"):
            await workers.run("a", killed)
        assert await workers.run("a", abs, -3) == 3
        with pytest.raises(RunCancelled, match=r"stopped after 0\.2 s"):
            await workers.run("a", blocked, str(tmp_path / "a"), seconds=0.2)
        assert await workers.run("a", abs, -3) == 3

    run_scenario(scenario, count=1)


def test_closing_ends_every_process(tmp_path: Path) -> None:
    async def scenario(workers: WorkerPool) -> None:
        idle = await workers.run("a", os.getpid)
        call = asyncio.ensure_future(workers.run("a", blocked, str(tmp_path / "a")))
        busy = await started(tmp_path / "a")
        assert idle == busy
        workers.close()
        with pytest.raises(RunCancelled, match="server is shutting down"):
            await call
        await ended(busy)
        with pytest.raises(RunCancelled, match="server is shutting down"):
            await workers.run("a", abs, -3)

    run_scenario(scenario)
