"""Killed processes, races and missing resources: no record is lost or duplicated.

Each test injects one fault and counts the records. These are short versions of the tests in
`tests/faults`, which `make test-faults` runs for many minutes.
"""

import json
import multiprocessing
import os
import random
import select
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import hostile
import psutil
import pytest
from harness import PATIENCE, command, finish, folders, kill, logged, outcomes, wait_for

from bythebook.experiments.cli.main import main
from bythebook.experiments.execution.provenance import collect_environment
from bythebook.experiments.store.locking import shared_lock
from bythebook.experiments.store.run_reader import read_run
from bythebook.experiments.sweeps.run import LOCK_NAME, load_sweep
from bythebook.experiments.tracking.client import ClientTracker
from bythebook.experiments.tracking.local import LocalTracker
from bythebook.experiments.tracking.payload import Payload

HELD = "MISBEHAVING_HELD"  # the folder in which the study reports its start; it then never ends
SWEEP = ["run", "-m", "study=misbehaving", "study.seconds=0.05", "study.level=range(0,16)"]
Capture = pytest.CaptureFixture[str]


def held(runs: int, started: Path, outputs: Path, *arguments: str) -> "subprocess.Popen[str]":
    """Start a command and wait until it computes so many runs, which never end."""
    started.mkdir()
    process = command(outputs, *arguments, **{HELD: str(started)})
    wait_for(lambda: len(list(started.iterdir())) >= runs or process.poll() is not None)
    assert process.poll() is None, finish(process)
    return process


def wait_for_text(process: "subprocess.Popen[str]", text: bytes) -> None:
    """Wait until a command has written a text to its standard error."""
    assert process.stderr is not None
    output = b""
    while text not in output:
        ready, _, _ = select.select([process.stderr], [], [], PATIENCE)
        part = os.read(process.stderr.fileno(), 65536) if ready else b""
        assert part, output
        output += part


@pytest.mark.usefixtures("misbehaving", "tracked")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_sweep_resumes_and_gives_the_same_as_an_undisturbed_one(
    outputs: Path, tmp_path: Path, capsys: Capture, workers: int
) -> None:
    process = command(outputs, *SWEEP, f"jobs={workers}")
    target = random.Random(workers).randint(1, 4)
    wait_for(lambda: len(folders(outputs)) >= target)
    kill(process)
    between = outcomes(outputs)
    assert 0 < len(between) < 16
    assert main(SWEEP) == 0
    assert f"{len(between)} cached, 0 failed" in capsys.readouterr().out
    undisturbed = tmp_path / "undisturbed"
    assert main([*SWEEP, "tracking=off", f"outputs={undisturbed}"]) == 0
    assert outcomes(outputs) == outcomes(undisturbed)
    assert logged(outputs, "cell") == sorted(path.name for path in folders(outputs))
    assert len(logged(outputs, "sweep")) == 1


def test_workers_do_not_outlive_the_process_that_started_them(outputs: Path) -> None:
    process = command(outputs, *SWEEP, "study.seconds=60", "jobs=2", "tracking=off")
    own = psutil.Process(process.pid)
    wait_for(lambda: len(own.children(recursive=True)) >= 4)  # a tracker, a server, two workers
    children = own.children(recursive=True)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []


def test_two_equal_simultaneous_sweeps_create_one_store(outputs: Path) -> None:
    both = [command(outputs, *SWEEP[:-1], "study.level=range(0,8)") for _ in range(2)]
    for process in both:
        code, _, err = finish(process)
        assert code == 0, err
        assert "MLflow is unavailable" not in err
    assert len(outcomes(outputs)) == 8
    assert logged(outputs, "cell") == sorted(path.name for path in folders(outputs))
    assert len(logged(outputs, "sweep")) == 1


def test_two_overlapping_sweeps_log_into_one_store(outputs: Path, empty_store: Path) -> None:
    """The common cells of two grids are recorded and logged once."""
    shutil.copyfile(empty_store, outputs / "mlflow.db")
    grids = ["study.level=range(0,12)", "study.level=range(8,20)"]
    both = [command(outputs, *SWEEP[:-1], grid) for grid in grids]
    for process in both:
        code, _, err = finish(process)
        assert code == 0, err
        assert "MLflow is unavailable" not in err
    assert len(outcomes(outputs)) == 20
    names = logged(outputs, "cell")
    assert [name for name in names if "@" not in name] == sorted(p.name for p in folders(outputs))
    again = [name.partition("@")[0] for name in names if "@" in name]  # below the second parent
    assert len(again) == len(set(again)) <= 4
    assert len(logged(outputs, "sweep")) == 2


def log_one(outputs: Path, number: int) -> None:
    LocalTracker(outputs).log_runs([Payload(f"record-{number}", "race", "a run", "FINISHED", 1, 2)])


@pytest.mark.filterwarnings("ignore")
def test_eight_processes_create_one_store(outputs: Path) -> None:
    context = multiprocessing.get_context("fork")
    many = [context.Process(target=log_one, args=(outputs, number)) for number in range(8)]
    for process in many:
        process.start()
    for process in many:
        process.join(timeout=120)
    assert [process.exitcode for process in many] == [0] * 8
    assert LocalTracker(outputs).logged_ids() == {f"record-{number}" for number in range(8)}


@pytest.mark.usefixtures("misbehaving", "tracked")
def test_the_group_can_write_if_the_umask_allows_it(outputs: Path) -> None:
    """Two users can share an outputs folder."""
    before = os.umask(0o002)
    try:
        assert main(["run", "study=misbehaving"]) == 0
        assert main(["run", "-m", "study=misbehaving", "seed=0,1"]) == 0
    finally:
        os.umask(before)
    mode = stat.S_IRGRP | stat.S_IWGRP
    paths = [path for path in outputs.rglob("*") if path.name != "mlflow.db"]
    assert [path for path in paths if path.stat().st_mode & mode != mode] == []


@pytest.mark.usefixtures("misbehaving")
def test_a_killed_run_leaves_no_record_and_is_computed_again(outputs: Path, tmp_path: Path) -> None:
    one = ["run", "study=misbehaving", "tracking=off"]
    process = held(1, tmp_path / "held", outputs, *one)
    kill(process)
    assert folders(outputs) == []
    assert main(one) == 0
    assert len(outcomes(outputs)) == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_finishes_running_jobs_and_the_message_says_how_to_resume(
    outputs: Path, empty_store: Path, workers: int
) -> None:
    shutil.copyfile(empty_store, outputs / "mlflow.db")
    process = command(outputs, *SWEEP, "study.seconds=0.5", f"jobs={workers}")
    wait_for(lambda: len(folders(outputs)) >= 2)
    os.kill(process.pid, signal.SIGINT)
    code, _, err = finish(process)
    assert code == 130
    assert "run the same command to resume" in err
    assert "Traceback" not in err
    assert 2 <= len(folders(outputs)) <= 8
    assert logged(outputs, "cell") == sorted(path.name for path in folders(outputs))


def test_a_second_ctrl_c_aborts(outputs: Path, tmp_path: Path) -> None:
    process = held(2, tmp_path / "held", outputs, *SWEEP, "jobs=2", "tracking=off")
    os.killpg(process.pid, signal.SIGINT)
    wait_for_text(process, b"Ctrl-C again")
    os.killpg(process.pid, signal.SIGINT)
    code, _, _ = finish(process)
    assert code == 130


def test_a_command_waits_for_a_locked_store(outputs: Path, empty_store: Path) -> None:
    shutil.copyfile(empty_store, outputs / "mlflow.db")
    with sqlite3.connect(outputs / "mlflow.db", isolation_level=None) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        process = command(outputs, "run", "study=misbehaving")
        own = psutil.Process(process.pid)
        wait_for(lambda: "mlflow.db" in {Path(file.path).name for file in own.open_files()})
        time.sleep(6)  # longer than SQLite's own five seconds
        assert process.poll() is None
        writer.execute("COMMIT")
    code, _, err = finish(process)
    assert code == 0, err
    assert len(logged(outputs, "run")) == 1


@pytest.mark.usefixtures("misbehaving")
def test_an_invalid_database_is_reported_and_the_run_recorded(
    outputs: Path, capsys: Capture
) -> None:
    (outputs / "mlflow.db").write_text("this is not a database")
    assert main(["run", "study=misbehaving"]) == 0
    assert capsys.readouterr().err.count("MLflow is unavailable") == 1
    assert len(outcomes(outputs)) == 1


@pytest.mark.usefixtures("misbehaving")
@pytest.mark.parametrize("name", ["what?", "a%20b"])
def test_a_folder_that_mlflow_cannot_open_is_reported_and_the_run_recorded(
    tmp_path: Path, capsys: Capture, name: str
) -> None:
    assert main(["run", "study=misbehaving", f"outputs={tmp_path / name}"]) == 0
    assert "MLflow is unavailable" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.usefixtures("misbehaving")
def test_a_full_disk_is_reported_in_one_line(
    outputs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bythebook.experiments.store.run_store._rename_into_place", no_space)
    assert main(["run", "study=misbehaving", "tracking=off"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "could not read or write" in err


@pytest.mark.usefixtures("misbehaving")
def test_a_sweep_whose_tables_do_not_fit_on_the_disk_is_closed(
    outputs: Path, tracked: LocalTracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bythebook.experiments.sweeps.run.cells_frame", no_space)
    assert main(["run", "-m", "study=misbehaving", "study.level=0,1"]) == 2
    with sqlite3.connect(tracked.database) as database:
        statuses = database.execute("SELECT status FROM runs ORDER BY status").fetchall()
    assert "RUNNING" not in {status for (status,) in statuses}
    monkeypatch.undo()


@pytest.mark.usefixtures("misbehaving", "tracked")
def test_every_type_of_failure_in_one_sweep(outputs: Path, capsys: Capture) -> None:
    ways = ["well", "raise", "hang", "strange", "pickle", "well"]
    sweep = ["run", "-m", "study=misbehaving", f"study.ways=[{','.join(ways)}]"]
    assert main([*sweep, "study.level=range(0,6)", "limits.timeout=1", "metric=value"]) == 1
    captured = capsys.readouterr()
    assert "6 runs: 5 computed, 1 cached, 3 failed" in captured.out  # the first checks the metric
    listed = [x for x in captured.err.splitlines() if x.startswith("bythebook: failed: level=")]
    assert [line.split()[3] for line in listed] == [
        "ArithmeticError:",
        "TimeLimitExceeded:",
        "TypeError:",
    ]
    assert len(logged(outputs, "cell")) == 6


@pytest.mark.usefixtures("misbehaving")
def test_a_sweep_of_nan_and_infinity_has_tables(outputs: Path) -> None:
    words = ["run", "-m", "study=misbehaving", "study.way=strange", "tracking=off"]
    assert main([*words, "seed=0,1", "metric='nan'"]) == 0
    assert main([*words, "study.level=0,1", "metric='inf'"]) == 0
    assert len(list(outputs.glob("sweeps/*/pivot.csv"))) == 2


def killed_sweep(outputs: Path) -> Path:
    """The folder of a sweep after `kill -9`: all runs are recorded, its status is RUNNING."""
    assert main(["run", "-m", "study=misbehaving", "study.level=0,1,2", "tracking=off"]) == 0
    (folder,) = (outputs / "sweeps").iterdir()
    content = json.loads((folder / "sweep.json").read_text())
    content["state"] |= {"status": "RUNNING"}
    content["runs"] = [None] * 3
    (folder / "sweep.json").write_text(json.dumps(content))
    return folder


@pytest.mark.usefixtures("misbehaving")
def test_sync_logs_the_runs_of_a_killed_sweep_below_their_parent(
    outputs: Path, tracked: LocalTracker
) -> None:
    folder = killed_sweep(outputs)
    with shared_lock(folder / LOCK_NAME):  # the process that runs the sweep logs them
        assert main(["sync"]) == 0
    assert logged(outputs, "cell") == logged(outputs, "run") == []
    assert main(["sync"]) == 0
    assert logged(outputs, "cell") == sorted(path.name for path in folders(outputs))
    with sqlite3.connect(tracked.database) as database:
        sql = "SELECT status FROM runs JOIN tags USING (run_uuid) WHERE value = 'sweep'"
        assert database.execute(sql).fetchall() == [("KILLED",)]
    sweep = ["run", "-m", "study=misbehaving", "study.level=0,1,2"]
    assert main(sweep) == 0
    assert load_sweep(folder)[1]["status"] == "FINISHED"
    assert len(logged(outputs, "sweep")) == 1
    assert len(logged(outputs, "cell")) == 3


@pytest.mark.usefixtures("misbehaving")
def test_sync_skips_a_corrupt_record(outputs: Path, tracked: object, capsys: Capture) -> None:
    for level in (0, 1):
        assert main(["run", "study=misbehaving", f"study.level={level}", "tracking=off"]) == 0
    (folders(outputs)[0] / "run.json").write_text("{")
    assert main(["sync"]) == 0
    assert "run.json" in capsys.readouterr().err
    assert len(logged(outputs, "run")) == 1


def assert_rejected(capsys: Capture, arguments: list[str], answer: str) -> None:
    capsys.readouterr()
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1, err
    assert answer in err
    assert hostile.SECRET not in err


SOME = ["callback", "logging", "sweeper", "pickled configuration", "environment by a detour"]
SOME += ["environment by the metric", "experiment by path", "swept by path", "verified by path"]
SOME += ["outputs in a file", "ten megabytes", "nested", "not UTF-8"]


@pytest.mark.usefixtures("misbehaving")
def test_hostile_commands_are_rejected(
    outputs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOOK_SECRET", hostile.SECRET)
    for name in SOME:
        assert_rejected(capsys, *hostile.COMMANDS[name])
    assert not list(outputs.iterdir())


@pytest.mark.usefixtures("misbehaving")
def test_hostile_experiment_files_are_rejected(
    outputs: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOOK_SECRET", hostile.SECRET)
    trap = tmp_path / "sprung"
    for name, answer in hostile.experiment_files(tmp_path / "conf", trap).items():
        file = ["--config-dir", str(tmp_path / "conf"), f"experiment=hostile/{name}"]
        assert_rejected(capsys, ["run", *file], answer)
    assert not trap.exists()
    assert not list(outputs.iterdir())


@pytest.mark.usefixtures("misbehaving")
def test_a_users_experiment_file_can_be_run(outputs: Path, tmp_path: Path) -> None:
    file = tmp_path / "conf" / "experiment" / "mine" / "first.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(
        "# @package _global_\ndefaults:\n  - override /study: misbehaving\nstudy: {level: 7}\n"
    )
    words = ["--config-dir", str(tmp_path / "conf"), "experiment=mine/first", "tracking=off"]
    assert main(["run", *words]) == 0
    (folder,) = folders(outputs)
    assert read_run(folder)["experiment"] == "mine/first"
    assert read_run(folder).metrics["level"] == 7


@pytest.mark.usefixtures("misbehaving", "tracked")
def test_hostile_text_is_escaped(outputs: Path) -> None:
    item = hostile.as_override("source.item", hostile.TITLE)
    assert main(["run", "-m", "study=misbehaving", item, "study.level=1,2"]) == 0
    assert {read_run(p).source.item for p in folders(outputs)} == {hostile.TITLE}
    with sqlite3.connect(outputs / "mlflow.db") as database:
        notes = database.execute("SELECT value FROM tags WHERE key = 'mlflow.note.content'")
        assert not [note for (note,) in notes.fetchall() if "**" in note and "<script>" in note]


@pytest.mark.usefixtures("misbehaving")
def test_corrupt_records_are_reported_in_one_line(
    outputs: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert main(["run", "study=misbehaving", "tracking=off"]) == 0
    (folder,) = folders(outputs)
    trap, arrays, record = tmp_path / "sprung", folder / "arrays.npz", folder / "run.json"
    corruptions: dict[Path, dict[str, Any]] = {
        arrays: hostile.corrupt_arrays(arrays, trap),
        record: hostile.corrupt_record(record),
    }
    for file, functions in corruptions.items():
        valid = file.read_bytes()
        for corrupt in functions.values():
            corrupt()
            assert_rejected(capsys, ["verify", folder.name], str(folder))
            file.write_bytes(valid)
    assert main(["verify", folder.name]) == 0
    assert not trap.exists()


def test_a_data_file_with_a_wrong_checksum_is_rejected(
    outputs: Path, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "data" / "fcml" / "kmeansdata" / "X.csv"
    file.parent.mkdir(parents=True)
    file.write_text("1,2\n" * 100)
    study = ["study=cluster_path", "study.data=fcml-kmeans", f"data_dir={tmp_path / 'data'}"]
    assert_rejected(capsys, ["run", *study], "is damaged or not the right one")
    assert_rejected(capsys, ["run", "-m", *study, "seed=1,2"], "is damaged or not the right one")
    assert not list(outputs.iterdir())


TYPED = "http://user-typed:word/typed@127.0.0.1:9"
SECRETS = ("user-typed", "word/typed", "user-of-the-env", "word-of-the-env")
TO_SERVER = ["tracking=server", f"tracking_uri={TYPED}"]
WITH_CREDENTIALS = {
    "run": ["run", "study=misbehaving", *TO_SERVER],
    "sweep": ["run", "-m", "study=misbehaving", "study.level=0,1", *TO_SERVER],
    "reproduce": ["reproduce", "fcml/fig-1.1", "--tracking", "server", "--tracking-uri", TYPED],
    "environment": ["run", "study=misbehaving", "tracking=server"],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("misbehaving")
@pytest.mark.parametrize(
    ("name", "answers"),
    [*((name, True) for name in WITH_CREDENTIALS), ("run", False), ("sweep", False)],
)
def test_credentials_are_in_no_record_no_tag_and_no_message(
    tmp_path: Path,
    tracked: LocalTracker,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    answers: bool,
) -> None:
    """Checked are all files below the folder, MLflow's database and the console."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bythebook.experiments.tracking.client.RETRY_DELAYS_S", ())
    monkeypatch.setattr(sys, "argv", ["bythebook", *WITH_CREDENTIALS[name]])
    monkeypatch.setenv("MLFLOW_TRACKING_URI", TYPED)
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "user-of-the-environment")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "word-of-the-environment")
    monkeypatch.setenv("PGPASSWORD", "word-of-the-environment")
    if answers:
        from mlflow import MlflowClient

        monkeypatch.setattr(ClientTracker, "client", MlflowClient(tracked.uri))
    collect_environment.cache_clear()
    try:
        assert main(WITH_CREDENTIALS[name]) == 0
    finally:
        collect_environment.cache_clear()
    captured = capsys.readouterr()
    assert ("MLflow is unavailable (http://***@127.0.0.1:9" in captured.err) != answers
    assert bool(tracked.logged_ids()) == answers
    assert bool(list(tmp_path.glob("mlruns/*/*"))) == answers
    (typed, *_) = [read_run(p)["provenance"]["command"] for p in folders(tracked.database.parent)]
    assert typed.endswith(
        ("tracking=server", "${oc.env:MLFLOW_TRACKING_URI,null}", "***@127.0.0.1:9")
    )
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    for secret in SECRETS:
        assert secret not in captured.out + captured.err
        assert not [content for content in written if secret.encode() in content]
