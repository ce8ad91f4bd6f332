"""Workers: newer runs supersede, cancelled ones die, and a tab disturbs no other."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from experiments.explore.workers import Stopped, Workers

from .conftest import completed

LONG = 600.0  # seconds: longer than a test's patience


def tried(scenario: Callable[[Workers], Awaitable[None]], count: int = 2) -> None:
    async def whole() -> None:
        workers = Workers(count)
        try:
            await scenario(workers)
        finally:
            workers.close()

    completed(whole())


def held(path: str) -> None:
    """A run that says who it is, and does not end."""
    Path(path).write_text(str(os.getpid()))
    time.sleep(LONG)


def killed() -> None:
    """A run whose process the system ends."""
    os.kill(os.getpid(), signal.SIGKILL)


async def begun(path: Path) -> int:
    """The process that holds, once it does."""
    while not (path.exists() and path.read_text()):
        await asyncio.sleep(0.02)
    return int(path.read_text())


async def gone(pid: int) -> None:
    """Until a process has ended."""
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        await asyncio.sleep(0.02)


def test_a_worker_is_used_again() -> None:
    async def scenario(workers: Workers) -> None:
        first = await workers.run("a", os.getpid)
        assert first != os.getpid()
        assert await workers.run("b", os.getpid) == first

    tried(scenario)


def test_a_newer_run_of_a_tab_supersedes_the_older(tmp_path: Path) -> None:
    async def scenario(workers: Workers) -> None:
        older = asyncio.ensure_future(workers.run("a", held, str(tmp_path / "a")))
        pid = await begun(tmp_path / "a")
        assert await workers.run("a", abs, -3) == 3
        with pytest.raises(Stopped, match="superseded by a newer run"):
            await older
        await gone(pid)

    tried(scenario, count=1)  # the newer one even gets the older one's place


def test_tabs_do_not_disturb_each_other(tmp_path: Path) -> None:
    async def scenario(workers: Workers) -> None:
        other = asyncio.ensure_future(workers.run("b", held, str(tmp_path / "b")))
        pid = await begun(tmp_path / "b")
        assert await workers.run("a", abs, -3) == 3
        assert not workers.cancel("a")  # nothing of it is under way
        assert not other.done()
        os.kill(pid, 0)
        assert workers.cancel("b")
        with pytest.raises(Stopped, match="cancelled"):
            await other
        await gone(pid)
        assert await workers.run("b", abs, -4) == 4

    tried(scenario)


def test_a_run_that_waits_its_turn_can_be_superseded(tmp_path: Path) -> None:
    async def scenario(workers: Workers) -> None:
        first = asyncio.ensure_future(workers.run("a", held, str(tmp_path / "a")))
        await begun(tmp_path / "a")
        waiting = asyncio.ensure_future(workers.run("b", abs, -1))
        await asyncio.sleep(0.05)
        newest = asyncio.ensure_future(workers.run("b", abs, -2))
        with pytest.raises(Stopped, match="superseded"):
            await waiting
        workers.cancel("a")
        assert await newest == 2
        with pytest.raises(Stopped):
            await first

    tried(scenario, count=1)


def test_what_runs_behind_takes_no_place_of_others(tmp_path: Path) -> None:
    async def scenario(workers: Workers) -> None:
        first = asyncio.ensure_future(workers.run("a-book", held, str(tmp_path / "a"), behind=True))
        await begun(tmp_path / "a")
        assert await workers.run("b", abs, -2) == 2
        second = asyncio.ensure_future(workers.run("b-book", abs, -3, behind=True))
        assert await workers.run("b", abs, -4) == 4
        assert not second.done()  # one at a time
        workers.cancel("a-book")
        assert await second == 3
        with pytest.raises(Stopped):
            await first

    tried(scenario, count=1)


def test_a_caller_who_leaves_stops_the_run(tmp_path: Path) -> None:
    async def scenario(workers: Workers) -> None:
        call = asyncio.ensure_future(workers.run("a", held, str(tmp_path / "a")))
        pid = await begun(tmp_path / "a")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await gone(pid)

    tried(scenario)


def test_a_worker_that_dies_or_hangs_is_replaced(tmp_path: Path) -> None:
    async def scenario(workers: Workers) -> None:
        with pytest.raises(Stopped, match="was killed"):
            await workers.run("a", killed)
        assert await workers.run("a", abs, -3) == 3
        with pytest.raises(Stopped, match=r"stopped after 0\.2 s"):
            await workers.run("a", held, str(tmp_path / "a"), seconds=0.2)
        assert await workers.run("a", abs, -3) == 3

    tried(scenario, count=1)


def test_closing_ends_every_process(tmp_path: Path) -> None:
    async def scenario(workers: Workers) -> None:
        idle = await workers.run("a", os.getpid)
        call = asyncio.ensure_future(workers.run("a", held, str(tmp_path / "a")))
        busy = await begun(tmp_path / "a")
        assert idle == busy
        workers.close()
        with pytest.raises(Stopped, match="the server stops"):
            await call
        await gone(busy)
        with pytest.raises(Stopped, match="the server stops"):
            await workers.run("a", abs, -3)

    tried(scenario)
