"""What is told as done survives a power cut: the order of system calls, seen by strace."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import _environment

pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None, reason="strace is not installed here"
)
CALLS = "trace=openat,rename,renameat,renameat2,syncfs,sync,fsync,fdatasync,write"
DONE = r"(\) += \d+|<unfinished)"


def traced(outputs: Path, *arguments: str) -> list[str]:
    """The system calls of a command and its workers, in the order in which they were begun."""
    log = outputs.parent / "calls"
    strace = ["strace", "-f", "-y", "-qq", "-s", "300", "-e", CALLS, "-o", str(log)]
    done = subprocess.run(
        [*strace, sys.executable, "-m", "experiments", *arguments],
        env=_environment(outputs, {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and "ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    return log.read_text(errors="replace").splitlines()


def places(calls: list[str], pattern: str) -> list[int]:
    return [place for place, line in enumerate(calls) if re.search(pattern, line)]


def check_written_through(calls: list[str], runs: Path, told: int) -> int:
    """Each file and folder of the runs is synced after its last change; how often that was."""
    every = places(calls[:told], rf"syncfs\(.*{DONE}")
    named: set[str] = set()  # opened again, a file is no new entry of its folder
    changed: dict[str, int] = {}  # path -> its last change
    for place, line in enumerate(calls[:told]):
        wrote = re.search(rf"write\(\d+<({re.escape(str(runs))}[^>]*)>", line)
        made = re.search(rf'openat\(.*"({re.escape(str(runs))}[^"]*)".*O_CREAT', line)
        moved = re.search(rf'rename\w*\(.*, "({re.escape(str(runs))}[^"]*)"', line)
        if wrote:
            changed[wrote[1]] = place
        for found in filter(None, (made, moved)):
            if found[1] not in named and not found[1].endswith(".lock"):
                named.add(found[1])
                changed[str(Path(found[1]).parent)] = place
    synced = [every]
    for path, last in changed.items():
        if "/." in path.removeprefix(str(runs)) and not Path(path).exists():
            continue  # aside, before it was renamed
        own = places(calls[:told], rf"fd?a?t?a?sync\(\d+<{re.escape(path)}>")
        assert [place for place in (*own, *every) if place > last], f"{path} is not synced"
        synced.append(own)
    assert changed
    return sum(map(len, synced))


def test_a_run_is_written_through_before_it_is_told(outputs: Path) -> None:
    calls = traced(outputs, "run", "study=misbehaving", "tracking=off", "figures=false")
    (renamed,) = places(calls, r"rename\w*\(.*\.writing-.*= 0")
    told = places(calls, r"write\(1<[^>]*>, .*misbehaving")
    assert renamed < told[0]
    assert check_written_through(calls, outputs / "runs", told[0]) == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sweep_is_written_through_before_it_is_told(outputs: Path, jobs: int) -> None:
    """A group of cells at a time: far less often than there are files of them."""
    sweep = ["run", "-m", "study=misbehaving", "study.level=range(0,40)", f"jobs={jobs}"]
    calls = traced(outputs, *sweep, "tracking=off")
    told = places(calls, r"write\(1<[^>]*>, .*40 cells: 40 computed")
    assert told
    assert 1 <= check_written_through(calls, outputs / "runs", told[0]) <= 60
