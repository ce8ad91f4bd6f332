"""Kill it, race it, starve it: nothing recorded is lost or doubled.

Each test injects one fault into real processes and counts what is left.
"""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.records import RunStore, read

TESTS = Path(__file__).parents[1]
SWEEP = ["run", "-m", "study=misbehaving", "study.seconds=0.05", "study.level=range(0,16)"]


def command(outputs: Path, *arguments: str) -> "subprocess.Popen[str]":
    environment = {
        **os.environ,
        "PYTHONPATH": str(TESTS / "faults"),
        "BYTHEBOOK_OUTPUTS": str(outputs),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "experiments", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def logged(outputs: Path, kind: str) -> list[str]:
    with sqlite3.connect(outputs / "mlflow.db") as database:
        rows = database.execute(
            "SELECT value FROM tags WHERE key = 'bythebook.run_id' AND run_uuid IN"
            " (SELECT run_uuid FROM tags WHERE key = 'kind' AND value = ?)",
            [kind],
        ).fetchall()
    return sorted(value for (value,) in rows)


def values(outputs: Path) -> dict[str, float]:
    return {
        path.name: read(path)["outcome"]["metrics"]["value"] for path in RunStore(outputs).folders()
    }


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_sweep_resumes_to_what_an_undisturbed_one_gives(
    outputs: Path, empty_store: Path, tmp_path: Path, workers: int
) -> None:
    shutil.copyfile(empty_store, outputs / "mlflow.db")
    random.seed(workers)
    grid = [*SWEEP, f"jobs={workers}"]
    for _ in range(3):
        process = command(outputs, *grid)
        deadline = time.monotonic() + 30
        target = len(list(RunStore(outputs).folders())) + random.randint(1, 3)
        while len(list(RunStore(outputs).folders())) < target and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    between = values(outputs)
    assert 0 < len(between) < 16
    code, out, err = finish(command(outputs, *grid))
    assert code == 0, err
    assert f"{len(between)} found, 0 failed" in out
    undisturbed = tmp_path / "undisturbed"
    assert finish(command(undisturbed, *SWEEP, "tracking=off"))[0] == 0
    assert values(outputs) == values(undisturbed)
    assert logged(outputs, "cell") == sorted(values(outputs))
    assert len(logged(outputs, "sweep")) == 1


def test_two_equal_sweeps_at_one_moment_on_a_store_that_is_not_there(outputs: Path) -> None:
    both = [command(outputs, *SWEEP) for _ in range(2)]
    for process in both:
        code, _, err = finish(process)
        assert code == 0, err
        assert "not tracked" not in err
    assert len(values(outputs)) == 16
    assert logged(outputs, "cell") == sorted(values(outputs))
    assert len(logged(outputs, "sweep")) == 1


def test_two_different_sweeps_at_one_moment_share_the_store(outputs: Path) -> None:
    both = [command(outputs, *SWEEP, f"seed={seed}") for seed in (1, 2)]
    for process in both:
        code, _, err = finish(process)
        assert code == 0, err
    assert len(values(outputs)) == 32
    assert logged(outputs, "cell") == sorted(values(outputs))
    assert len(logged(outputs, "sweep")) == 2


def test_a_run_killed_in_the_middle_leaves_nothing_and_runs_again(outputs: Path) -> None:
    one = ["run", "study=misbehaving", "study.seconds=3", "tracking=off"]
    process = command(outputs, *one)
    time.sleep(2.0)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert values(outputs) == {}
    code, _, err = finish(command(outputs, *one))
    assert code == 0, err
    assert len(values(outputs)) == 1


def test_ctrl_c_keeps_what_is_recorded_and_says_how_to_go_on(
    outputs: Path, empty_store: Path
) -> None:
    shutil.copyfile(empty_store, outputs / "mlflow.db")
    process = command(outputs, *SWEEP, "study.seconds=0.2")
    while len(list(RunStore(outputs).folders())) < 2:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    code, _, err = finish(process)
    assert code == 130
    assert "run the command again to go on" in err
    assert "Traceback" not in err
    assert logged(outputs, "cell") == sorted(values(outputs))


def test_a_locked_store_is_waited_for(outputs: Path, empty_store: Path) -> None:
    shutil.copyfile(empty_store, outputs / "mlflow.db")
    with sqlite3.connect(outputs / "mlflow.db", isolation_level=None) as writer:
        writer.execute("BEGIN IMMEDIATE")
        process = command(outputs, "run", "study=misbehaving")
        time.sleep(4)
        assert process.poll() is None
        writer.execute("COMMIT")
    code, _, err = finish(process)
    assert code == 0, err
    assert len(logged(outputs, "run")) == 1


def test_a_store_that_is_no_database_costs_a_line_and_no_run(outputs: Path) -> None:
    (outputs / "mlflow.db").write_text("this is not a database")
    code, _, err = finish(command(outputs, "run", "study=misbehaving"))
    assert code == 0
    assert "not tracked" in err
    assert "Traceback" not in err
    assert len(values(outputs)) == 1


def test_a_full_disk_is_told_in_a_line(outputs: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    (outputs / "runs").symlink_to("/dev/full")
    code, _, err = finish(command(outputs, "run", "study=misbehaving", "tracking=off"))
    assert code == 2
    assert err.count("\n") == 1
    assert "cannot write" in err
