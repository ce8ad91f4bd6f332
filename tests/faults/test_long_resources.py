"""Full disks, locks and limits: records stay valid, and errors are reported in one line."""

import os
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import (
    FAULTS,
    PATIENCE,
    Tracked,
    command,
    finish,
    folders,
    logged,
    outcomes,
    run,
    wait_for,
)

from bythebook.experiments.store.run_reader import read_run
from bythebook.experiments.tracking.local import LocalTracker

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore")]

SWEEP = ["run", "-m", "study=misbehaving", "study.level=range(0,300)"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of three megabytes."""
    disk = tmp_path / "small"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted (needs root)")
    yield disk
    # MLflow keeps its connections open until the tests end.
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def resize(disk: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", str(disk)], check=True)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_disk_fills_up_during_a_sweep(
    small_disk: Path, tmp_path: Path, empty_store: Path, workers: int
) -> None:
    shutil.copyfile(empty_store, small_disk / "mlflow.db")
    many = [*SWEEP[:-1], "study.level=range(0,3000)"]
    sweep = [*many, f"jobs={workers}"]
    code, _, err = run(small_disk, *sweep)
    assert code == 2
    assert "No space left" in err
    assert "Traceback" not in err
    between = outcomes(small_disk)  # all of them can be read, with their arrays
    assert 10 < len(between) < 3000
    assert not list(small_disk.rglob(".writing-*"))
    resize(small_disk, "64m")
    code, out, err = run(small_disk, *sweep)
    assert code == 0, err
    assert f"{len(between)} cached, 0 failed" in out
    assert run(tmp_path / "undisturbed", *many, "tracking=off")[0] == 0
    assert outcomes(small_disk) == outcomes(tmp_path / "undisturbed")
    Tracked(LocalTracker(small_disk).uri).check_against(small_disk, sweeps=1)


def test_a_disk_too_small_for_the_store(small_disk: Path) -> None:
    resize(small_disk, "500k")
    code, _, err = run(small_disk, "run", "study=misbehaving")
    assert code == 0, err
    assert "MLflow is unavailable" in err
    assert "Traceback" not in err
    assert len(outcomes(small_disk)) == 1
    resize(small_disk, "64m")
    code, out, err = run(small_disk, "sync")
    assert code == 0, err
    assert out == "1 runs logged, 0 already present\n"


def test_the_store_is_locked_repeatedly(outputs: Path, empty_store: Path) -> None:
    """The lock lasts longer than MLflow's timeout of 20 seconds and excludes readers too."""
    shutil.copyfile(empty_store, outputs / "mlflow.db")
    process = command(outputs, *SWEEP[:-1], "study.level=range(0,80)", "study.seconds=0.1")
    for _ in range(2):
        before = len(folders(outputs))
        wait_for(lambda before=before: len(folders(outputs)) > before + 3)  # type: ignore[misc]
        with sqlite3.connect(
            outputs / "mlflow.db", isolation_level=None, timeout=PATIENCE
        ) as writer:
            writer.execute("BEGIN EXCLUSIVE")
            time.sleep(30)
            assert process.poll() is None
            writer.execute("COMMIT")
    code, _, err = finish(process)
    assert code == 0, err
    assert "MLflow is unavailable" not in err
    Tracked(LocalTracker(outputs).uri).check_against(outputs, sweeps=1)


@pytest.mark.parametrize("attempt", range(3))
def test_eight_processes_create_one_store(outputs: Path, attempt: int) -> None:
    many = [command(outputs, "run", "study=misbehaving", f"study.level={i}") for i in range(8)]
    for process in many:
        code, _, err = finish(process)
        assert code == 0, err
        assert "MLflow is unavailable" not in err
    assert len(logged(outputs, "run")) == 8
    assert logged(outputs, "run") == sorted(path.name for path in folders(outputs))


def test_two_users_in_one_outputs_folder(outputs: Path) -> None:
    """The same sweep twice, an overlapping and another one, each with four seeds."""
    for seed in range(4):
        grids = ["range(0,40)", "range(0,40)", "range(20,60)", "range(60,80)"]
        fixed = ["run", "-m", "study=misbehaving", f"seed={seed}", "study.seconds=0.02", "jobs=2"]
        both = [command(outputs, *fixed, f"study.level={levels}") for levels in grids]
        for process in both:
            code, _, err = finish(process)
            assert code == 0, err
            assert "MLflow is unavailable" not in err
    assert len(outcomes(outputs)) == 4 * 80
    Tracked(LocalTracker(outputs).uri).check_against(outputs, sweeps=4 * 3)


def test_two_accounts_share_a_folder_of_their_group() -> None:
    """Each account uses the records of the other, and both log into one store."""
    python = next((p for p in (sys.executable, "/usr/bin/python3") if _for_everyone(p)), None)
    if python is None:
        pytest.skip("needs root, and a Python of this version that other accounts may run")
    shared = Path(tempfile.mkdtemp(prefix="bythebook-shared-"))
    try:
        os.chown(shared, -1, 4242)
        shared.chmod(0o2775)
        first, second = (
            _as_account(python, shared, number, "range(0,20)") for number in (4243, 4244)
        )
        assert "20 computed, 0 cached" in first
        assert "0 computed, 20 cached" in second
        wider = _as_account(python, shared, 4244, "range(10,30)")
        assert "10 computed, 10 cached" in wider
        Tracked(LocalTracker(shared).uri).check_against(shared, sweeps=2)
    finally:
        shutil.rmtree(shared)


def _for_everyone(python: str) -> bool:
    if os.geteuid() != 0:
        return False
    version = f"import sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    try:
        done = subprocess.run([python, "-c", version], user=4243, group=4242, check=False)
    except OSError:
        return False
    return done.returncode == 0


def _as_account(python: str, outputs: Path, number: int, levels: str) -> str:
    packages = sysconfig.get_path("purelib")
    start = (
        f"import site, sys; site.addsitedir({packages!r}); sys.path.insert(0, {str(FAULTS)!r});"
        "import sitecustomize; from importlib import reload; reload(sitecustomize);"
        "from bythebook.experiments.cli.main import main; sys.exit(main())"
    )
    sweep = ["run", "-m", "study=misbehaving", f"study.level={levels}"]
    with tempfile.TemporaryDirectory() as home:
        os.chown(home, number, 4242)
        done = subprocess.run(
            [python, "-c", start, *sweep],
            env={"HOME": home, "PATH": os.environ["PATH"], "BYTHEBOOK_OUTPUTS": str(outputs)},
            cwd=outputs,
            user=number,
            group=4242,
            extra_groups=[],
            umask=0o002,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
    assert done.returncode == 0, done.stderr
    assert "MLflow is unavailable" not in done.stderr
    return done.stdout


@pytest.mark.parametrize("workers", [1, 2])
def test_every_type_of_failure_in_one_sweep(outputs: Path, workers: int) -> None:
    """Level 0 raises, 1 hangs, 2 returns NaN and infinity, 3 an object, 4 eats 4 GiB."""
    ways = ["raise", "hang", "strange", "pickle", "eat", *["well"] * 5]
    if not sys.platform.startswith("linux"):
        ways[4] = "well"  # the memory limit is enforced on Linux only
    if workers > 1:
        ways[5] = "die"
    code, out, err = run(
        outputs,
        *["run", "-m", "study=misbehaving", f"study.ways=[{','.join(ways)}]"],
        *["study.level=range(0,10)", "limits.timeout=5", "limits.memory_gb=1", f"jobs={workers}"],
    )
    failing = {0: "ArithmeticError", 1: "TimeLimitExceeded", 3: "TypeError", 4: "MemoryError"}
    if workers > 1:
        failing[5] = "WorkerDied"
    assert code == 1
    assert f"10 runs: 10 computed, 0 cached, {len(failing)} failed" in out
    assert "Traceback" not in err
    listed = [line for line in err.splitlines() if line.startswith("bythebook: failed: level=")]
    assert len(listed) == len(failing)  # the list at the end
    records = {read_run(p)["science"]["knobs"]["level"]: read_run(p) for p in folders(outputs)}
    kinds = {i: r["error"]["type"] for i, r in records.items() if not r.finished}
    assert {i: kind.removeprefix("_Array") for i, kind in kinds.items()} == failing
    assert str(records[2].metrics) == "{'nan': nan, 'inf': inf, 'value': 1.0}"
    assert len(logged(outputs, "cell")) == 10
    assert len(logged(outputs, "sweep")) == 1
