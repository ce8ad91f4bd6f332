"""All commands are killed at random times, one by one and together; the records are counted.

BYTHEBOOK_KILLS is the number of kills, BYTHEBOOK_SOAK the number of minutes in which all commands
run together.
"""

import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from harness import outcomes, run
from trials import CELLS, CHILD, FIRST, GROUP, TABLE, UNDISTURBED, VARIANTS, Ground, report

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore")]

KILLS = int(os.environ.get("BYTHEBOOK_KILLS", "110"))
MINUTES = float(os.environ.get("BYTHEBOOK_SOAK", "20"))
N_USERS = 3
VIEWS = ("tables", "figures", "report", "notebook")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The records of all commands of the table without disturbance."""
    outputs = tmp_path_factory.mktemp("undisturbed")
    seeds = ",".join(f"{n}{way}" for n in (*VARIANTS, UNDISTURBED) for way in range(1, 5))
    fixed = ["study=misbehaving", "tracking=off"]
    grid = [f"seed={seeds}", f"study.level=range(0,{CELLS})", "study.seconds=0.05", "jobs=2"]
    single = ["seed=1,2,3,4", "study.seconds=0.5", "jobs=2"]
    books = ["--tracking", "off", *(f"fcml/fig-3.{n}*" for n in (*VARIANTS, UNDISTURBED))]
    for arguments in (["run", "-m", *fixed, *grid], ["run", "-m", *fixed, *single]):
        assert run(outputs, *arguments)[0] == 0
    assert run(outputs, "reproduce", *books)[0] == 0
    return outcomes(outputs)


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    """An outputs folder with a few results, and a Dask cluster."""
    pytest.importorskip("distributed")
    pytest.importorskip("submitit")
    logs = tmp_path / "logs"
    logs.mkdir()
    file = tmp_path / "scheduler.json"
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    start += ["--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file)]
    worker += ["--nworkers", "2", "--nthreads", "1", "--no-dashboard"]
    worker += ["--local-directory", str(tmp_path / "dask")]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with (
        subprocess.Popen(start, **quiet) as scheduler,  # type: ignore[call-overload]
        subprocess.Popen(worker, **quiet) as nannies,  # type: ignore[call-overload]
    ):
        try:
            from distributed import Client

            with Client(scheduler_file=str(file), timeout=120) as client:
                client.wait_for_workers(2, timeout=120)
                address = client.scheduler.address
            made = Ground(tmp_path / "outputs", logs, address, lambda: _workers(nannies.pid))
            made.outputs.mkdir()
            made.finish("reproduce", UNDISTURBED)
            made.look()
            yield made
        finally:
            nannies.terminate()
            scheduler.terminate()


def _workers(nannies: int) -> list[psutil.Process]:
    """The worker processes below Dask's nannies."""
    below = psutil.Process(nannies).children(recursive=True)
    return [process for process in below if "spawn_main" in " ".join(process.cmdline())]


def _measure(ground: Ground) -> None:
    """Measure the time that each command takes."""
    for name in TABLE:
        ground.finish(name, UNDISTURBED)


def _issue_all(ground: Ground, variants: dict[str, set[int]]) -> None:
    """Run every command again without disturbance, which completes the killed ones."""
    for name in sorted(variants, key=lambda name: (name in VIEWS, name)):
        for variant in sorted(variants[name]) if TABLE[name].varies else [UNDISTURBED]:
            ground.finish(name, variant)
    ground.finish("sync", 0)


def _same_views(ground: Ground, clean: Path) -> None:
    """Check that the outputs equal those from a folder with the records only."""
    omitted = shutil.ignore_patterns("tables", "figures", "report", "report-cache", "*.ipynb")
    shutil.copytree(ground.outputs, clean, ignore=omitted)
    other = Ground(clean, ground.logs, seen=ground.seen)
    for name in VIEWS:
        other.finish(name, 0)
    for name in ("tables", "figures", "report"):
        assert _visible(ground.outputs / name) == _visible(clean / name), name
    first, second = (next(f.glob("*.ipynb")).read_bytes() for f in (ground.outputs, clean))
    assert first == second


def _visible(folder: Path) -> dict[str, int]:
    """The visible files, with the sizes of those that do not depend on the folder."""
    return {
        str(path.relative_to(folder)): path.stat().st_size * (path.suffix in (".csv", ".md"))
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def test_every_command_is_killed(
    ground: Ground, undisturbed: dict[str, str], tmp_path: Path
) -> None:
    """Kill in turn the group, the first process and a child."""
    chance = random.Random(0)
    victims = (GROUP, FIRST, CHILD)
    kills = tries = 0
    _measure(ground)
    while kills < KILLS:
        assert tries < 4 * KILLS, "commands end before they are killed"
        name = list(TABLE)[tries % len(TABLE)]
        round_ = tries // len(TABLE)
        kills += ground.disturb(name, VARIANTS[round_ % len(VARIANTS)], victims[round_ % 3], chance)
        tries += 1
        report(f"{name}: {kills} kills")
    _issue_all(ground, {name: set(VARIANTS) for name in TABLE})
    ground.count(undisturbed)
    _same_views(ground, tmp_path / "clean")


def test_simultaneous_commands_are_killed(
    ground: Ground, undisturbed: dict[str, str], tmp_path: Path
) -> None:
    """Several commands run at the same time in one folder for minutes; half of them are killed."""
    problems: list[BaseException] = []
    issued: dict[str, set[int]] = {name: set() for name in TABLE}
    _measure(ground)

    deadline = time.monotonic() + 60 * MINUTES

    def user(number: int) -> None:
        chance = random.Random(number)
        while time.monotonic() < deadline and not problems:
            name = chance.choice(list(TABLE))
            variant = chance.choice(VARIANTS)
            issued[name].add(variant)
            try:
                if chance.random() < 0.5:
                    ground.finish(name, variant)
                else:
                    ground.disturb(name, variant, chance.choice((GROUP, FIRST, CHILD)), chance)
            except BaseException as problem:
                problems.append(problem)

    users = [threading.Thread(target=user, args=(number,)) for number in range(N_USERS)]
    for thread in users:
        thread.start()
    for thread in users:
        thread.join()
    if problems:
        raise problems[0]
    _issue_all(ground, issued)
    ground.look()
    ground.count({k: bits for k, bits in undisturbed.items() if k in ground.seen})
    _same_views(ground, tmp_path / "clean")
