"""Records are on disk before they are reported: the order of system calls, traced by strace."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import _environment

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
CALLS = "trace=openat,rename,renameat,renameat2,syncfs,sync,fsync,fdatasync,write"
DONE = r"(\) += \d+|<unfinished)"


def traced(outputs: Path, *arguments: str) -> list[str]:
    """The system calls of a command and its workers, in the order of their start."""
    log = outputs.parent / "calls"
    strace = ["strace", "-f", "-y", "-qq", "-s", "300", "-e", CALLS, "-o", str(log)]
    done = subprocess.run(
        [*strace, sys.executable, "-m", "bythebook", *arguments],
        env=_environment(outputs, {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and "ptrace" in done.stderr:
        pytest.skip("strace is not permitted")
    assert done.returncode == 0, done.stderr
    return log.read_text(errors="replace").splitlines()


def indices(calls: list[str], pattern: str) -> list[int]:
    return [index for index, line in enumerate(calls) if re.search(pattern, line)]


def check_synced(calls: list[str], runs: Path, reported: int) -> int:
    """Check that all files of the runs are synced after their last change; count the syncs."""
    every = indices(calls[:reported], rf"syncfs\(.*{DONE}")
    named: set[str] = set()  # files whose folder has an entry for them already
    changed: dict[str, int] = {}  # from path to the index of its last change
    for index, line in enumerate(calls[:reported]):
        wrote = re.search(rf"write\(\d+<({re.escape(str(runs))}[^>]*)>", line)
        created = re.search(rf'openat\(.*"({re.escape(str(runs))}[^"]*)".*O_CREAT', line)
        moved = re.search(rf'rename\w*\(.*, "({re.escape(str(runs))}[^"]*)"', line)
        if wrote:
            changed[wrote[1]] = index
        for match in filter(None, (created, moved)):
            if match[1] not in named and not match[1].endswith(".lock"):
                named.add(match[1])
                changed[str(Path(match[1]).parent)] = index
    synced = [every]
    for path, last in changed.items():
        if "/." in path.removeprefix(str(runs)) and not Path(path).exists():
            continue  # a temporary file that was renamed
        own = indices(calls[:reported], rf"fd?a?t?a?sync\(\d+<{re.escape(path)}>")
        assert [index for index in (*own, *every) if index > last], f"{path} is not synced"
        synced.append(own)
    assert changed
    return sum(map(len, synced))


def test_a_run_is_synced_before_it_is_reported(outputs: Path) -> None:
    calls = traced(outputs, "run", "study=misbehaving", "tracking=off", "figures=false")
    (renamed,) = indices(calls, r"rename\w*\(.*\.writing-.*= 0")
    reported = indices(calls, r"write\(1<[^>]*>, .*misbehaving")
    assert renamed < reported[0]
    assert check_synced(calls, outputs / "runs", reported[0]) == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sweep_is_synced_before_it_is_reported(outputs: Path, jobs: int) -> None:
    """One sync per batch of runs, which is fewer than one per file."""
    sweep = ["run", "-m", "study=misbehaving", "study.level=range(0,40)", f"jobs={jobs}"]
    calls = traced(outputs, *sweep, "tracking=off")
    reported = indices(calls, r"write\(1<[^>]*>, .*40 runs: 40 computed")
    assert reported
    assert 1 <= check_synced(calls, outputs / "runs", reported[0]) <= 60
