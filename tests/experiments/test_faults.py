"""Kill it, race it, starve it: nothing recorded is lost or doubled.

Each test injects one fault and counts what is left. They are the short versions of those in
tests/faults, which `make test-faults` runs for many minutes.
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

from experiments.cli import main
from experiments.records.locks import shared
from experiments.records.reading import read
from experiments.running.provenance import environment
from experiments.sweeping.run import AT_WORK, read_sweep
from experiments.tracking.client import ClientTracker
from experiments.tracking.local import LocalTracker
from experiments.tracking.runs import Payload

HELD = "MISBEHAVING_HELD"  # tells the study to say in a folder that it has begun, and not to end
SWEEP = ["run", "-m", "study=misbehaving", "study.seconds=0.05", "study.level=range(0,16)"]
Capture = pytest.CaptureFixture[str]


def held(runs: int, begun: Path, outputs: Path, *arguments: str) -> "subprocess.Popen[str]":
    """A command in the middle of so many runs, none of which will end."""
    begun.mkdir()
    process = command(outputs, *arguments, **{HELD: str(begun)})
    wait_for(lambda: len(list(begun.iterdir())) >= runs or process.poll() is not None)
    assert process.poll() is None, finish(process)
    return process


def hear(process: "subprocess.Popen[str]", words: bytes) -> None:
    """Wait until a command has said this on its standard error."""
    assert process.stderr is not None
    heard = b""
    while words not in heard:
        ready, _, _ = select.select([process.stderr], [], [], PATIENCE)
        said = os.read(process.stderr.fileno(), 65536) if ready else b""
        assert said, heard
        heard += said


@pytest.mark.usefixtures("misbehaving", "tracked")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_sweep_resumes_to_what_an_undisturbed_one_gives(
    outputs: Path, tmp_path: Path, capsys: Capture, workers: int
) -> None:
    process = command(outputs, *SWEEP, f"jobs={workers}")
    target = random.Random(workers).randint(1, 4)
    wait_for(lambda: len(folders(outputs)) >= target)
    kill(process)
    between = outcomes(outputs)
    assert 0 < len(between) < 16
    assert main(SWEEP) == 0
    assert f"{len(between)} found, 0 failed" in capsys.readouterr().out
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


def test_two_equal_sweeps_at_one_moment_on_a_store_that_is_not_there(outputs: Path) -> None:
    both = [command(outputs, *SWEEP[:-1], "study.level=range(0,8)") for _ in range(2)]
    for process in both:
        code, _, err = finish(process)
        assert code == 0, err
        assert "not tracked" not in err
    assert len(outcomes(outputs)) == 8
    assert logged(outputs, "cell") == sorted(path.name for path in folders(outputs))
    assert len(logged(outputs, "sweep")) == 1


def test_two_users_sweep_into_one_store(outputs: Path, empty_store: Path) -> None:
    """Two grids that overlap: the cells they share are run, or at least kept and logged, once."""
    shutil.copyfile(empty_store, outputs / "mlflow.db")
    grids = ["study.level=range(0,12)", "study.level=range(8,20)"]
    both = [command(outputs, *SWEEP[:-1], grid) for grid in grids]
    for process in both:
        code, _, err = finish(process)
        assert code == 0, err
        assert "not tracked" not in err
    assert len(outcomes(outputs)) == 20
    told = logged(outputs, "cell")
    assert [name for name in told if "@" not in name] == sorted(p.name for p in folders(outputs))
    again = [name.partition("@")[0] for name in told if "@" in name]  # below the second parent
    assert len(again) == len(set(again)) <= 4
    assert len(logged(outputs, "sweep")) == 2


def log_one(outputs: Path, number: int) -> None:
    LocalTracker(outputs).put([Payload(f"record-{number}", "race", "a run", "FINISHED", 1, 2)])


@pytest.mark.filterwarnings("ignore")
def test_eight_processes_open_a_store_that_is_not_there(outputs: Path) -> None:
    context = multiprocessing.get_context("fork")
    many = [context.Process(target=log_one, args=(outputs, number)) for number in range(8)]
    for process in many:
        process.start()
    for process in many:
        process.join(timeout=120)
    assert [process.exitcode for process in many] == [0] * 8
    assert LocalTracker(outputs).logged() == {f"record-{number}" for number in range(8)}


@pytest.mark.usefixtures("misbehaving", "tracked")
def test_a_folder_for_a_group_is_open_to_the_group(outputs: Path) -> None:
    """Two accounts that share an outputs folder read and write what the umask lets them."""
    before = os.umask(0o002)
    try:
        assert main(["run", "study=misbehaving"]) == 0
        assert main(["run", "-m", "study=misbehaving", "seed=0,1"]) == 0
    finally:
        os.umask(before)
    wanted = stat.S_IRGRP | stat.S_IWGRP
    made = [path for path in outputs.rglob("*") if path.name != "mlflow.db"]
    assert [path for path in made if path.stat().st_mode & wanted != wanted] == []


@pytest.mark.usefixtures("misbehaving")
def test_a_run_killed_in_the_middle_leaves_nothing_and_runs_again(
    outputs: Path, tmp_path: Path
) -> None:
    one = ["run", "study=misbehaving", "tracking=off"]
    process = held(1, tmp_path / "held", outputs, *one)
    kill(process)
    assert folders(outputs) == []
    assert main(one) == 0
    assert len(outcomes(outputs)) == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_finishes_what_is_running_and_says_how_to_go_on(
    outputs: Path, empty_store: Path, workers: int
) -> None:
    shutil.copyfile(empty_store, outputs / "mlflow.db")
    process = command(outputs, *SWEEP, "study.seconds=0.5", f"jobs={workers}")
    wait_for(lambda: len(folders(outputs)) >= 2)
    os.kill(process.pid, signal.SIGINT)
    code, _, err = finish(process)
    assert code == 130
    assert "run the command again to go on" in err
    assert "Traceback" not in err
    assert 2 <= len(folders(outputs)) <= 8
    assert logged(outputs, "cell") == sorted(path.name for path in folders(outputs))


def test_a_second_ctrl_c_stops_at_once(outputs: Path, tmp_path: Path) -> None:
    process = held(2, tmp_path / "held", outputs, *SWEEP, "jobs=2", "tracking=off")
    os.killpg(process.pid, signal.SIGINT)
    hear(process, b"Ctrl-C again stops at once")
    os.killpg(process.pid, signal.SIGINT)
    code, _, _ = finish(process)
    assert code == 130


def test_a_locked_store_is_waited_for(outputs: Path, empty_store: Path) -> None:
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
def test_a_store_that_is_no_database_costs_a_line_and_no_run(
    outputs: Path, capsys: Capture
) -> None:
    (outputs / "mlflow.db").write_text("this is not a database")
    assert main(["run", "study=misbehaving"]) == 0
    assert capsys.readouterr().err.count("not tracked") == 1
    assert len(outcomes(outputs)) == 1


@pytest.mark.usefixtures("misbehaving")
@pytest.mark.parametrize("name", ["what?", "a%20b"])
def test_a_folder_that_mlflow_cannot_name_costs_a_line_and_no_run(
    tmp_path: Path, capsys: Capture, name: str
) -> None:
    assert main(["run", "study=misbehaving", f"outputs={tmp_path / name}"]) == 0
    assert "not tracked" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.usefixtures("misbehaving")
def test_a_full_disk_is_told_in_a_line(
    outputs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("experiments.records.store._renamed", no_space)
    assert main(["run", "study=misbehaving", "tracking=off"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "cannot write" in err


@pytest.mark.usefixtures("misbehaving")
def test_a_disk_that_is_full_for_the_tables_still_closes_the_sweep(
    outputs: Path, tracked: LocalTracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("experiments.sweeping.run.long_table", no_space)
    assert main(["run", "-m", "study=misbehaving", "study.level=0,1"]) == 2
    with sqlite3.connect(tracked.database) as database:
        statuses = database.execute("SELECT status FROM runs ORDER BY status").fetchall()
    assert "RUNNING" not in {status for (status,) in statuses}
    monkeypatch.undo()


@pytest.mark.usefixtures("misbehaving", "tracked")
def test_every_kind_of_misbehaviour_in_one_sweep(outputs: Path, capsys: Capture) -> None:
    ways = ["well", "raise", "hang", "strange", "pickle", "well"]
    sweep = ["run", "-m", "study=misbehaving", f"study.ways=[{','.join(ways)}]"]
    assert main([*sweep, "study.level=range(0,6)", "limit.seconds=1", "metric=value"]) == 1
    told = capsys.readouterr()
    assert "6 cells: 5 computed, 1 found, 3 failed" in told.out  # one was run to see the metric
    listed = [x for x in told.err.splitlines() if x.startswith("bythebook: failed: level=")]
    assert [line.split()[3] for line in listed] == ["ArithmeticError:", "TimeLimit:", "TypeError:"]
    assert len(logged(outputs, "cell")) == 6


@pytest.mark.usefixtures("misbehaving")
def test_a_sweep_of_nothing_but_strange_numbers_has_its_tables(outputs: Path) -> None:
    strange = ["run", "-m", "study=misbehaving", "study.way=strange", "tracking=off"]
    assert main([*strange, "seed=0,1", "metric='nan'"]) == 0
    assert main([*strange, "study.level=0,1", "metric='inf'"]) == 0
    assert len(list(outputs.glob("sweeps/*/pivot.csv"))) == 2


def sweep_as_killed(outputs: Path) -> Path:
    """A sweep's folder as kill -9 leaves it: begun, with all its runs and no word of the end."""
    assert main(["run", "-m", "study=misbehaving", "study.level=0,1,2", "tracking=off"]) == 0
    (folder,) = (outputs / "sweeps").iterdir()
    content = json.loads((folder / "sweep.json").read_text())
    content["state"] |= {"status": "RUNNING"}
    content["runs"] = [None] * 3
    (folder / "sweep.json").write_text(json.dumps(content))
    return folder


@pytest.mark.usefixtures("misbehaving")
def test_sync_knows_the_cells_of_a_killed_sweep(outputs: Path, tracked: LocalTracker) -> None:
    folder = sweep_as_killed(outputs)
    with shared(folder / AT_WORK):  # while it runs, its own process logs them
        assert main(["sync"]) == 0
    assert logged(outputs, "cell") == logged(outputs, "run") == []
    assert main(["sync"]) == 0
    assert logged(outputs, "cell") == sorted(path.name for path in folders(outputs))
    with sqlite3.connect(tracked.database) as database:
        sql = "SELECT status FROM runs JOIN tags USING (run_uuid) WHERE value = 'sweep'"
        assert database.execute(sql).fetchall() == [("KILLED",)]
    sweep = ["run", "-m", "study=misbehaving", "study.level=0,1,2"]
    assert main(sweep) == 0
    assert read_sweep(folder)[1]["status"] == "FINISHED"
    assert len(logged(outputs, "sweep")) == 1
    assert len(logged(outputs, "cell")) == 3


@pytest.mark.usefixtures("misbehaving")
def test_sync_goes_past_a_damaged_record(outputs: Path, tracked: object, capsys: Capture) -> None:
    for level in (0, 1):
        assert main(["run", "study=misbehaving", f"study.level={level}", "tracking=off"]) == 0
    (folders(outputs)[0] / "run.json").write_text("{")
    assert main(["sync"]) == 0
    assert "is passed over: it is not whole" in capsys.readouterr().err
    assert len(logged(outputs, "run")) == 1


def refused(capsys: Capture, arguments: list[str], answer: str) -> None:
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
def test_hostile_commands_are_refused(
    outputs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOOK_SECRET", hostile.SECRET)
    for name in SOME:
        refused(capsys, *hostile.COMMANDS[name])
    assert not list(outputs.iterdir())


@pytest.mark.usefixtures("misbehaving")
def test_hostile_experiment_files_are_refused(
    outputs: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOOK_SECRET", hostile.SECRET)
    trap = tmp_path / "sprung"
    for name, answer in hostile.experiment_files(tmp_path / "conf", trap).items():
        file = ["--config-dir", str(tmp_path / "conf"), f"experiment=hostile/{name}"]
        refused(capsys, ["run", *file], answer)
    assert not trap.exists()
    assert not list(outputs.iterdir())


@pytest.mark.usefixtures("misbehaving")
def test_an_experiment_file_of_ones_own_runs(outputs: Path, tmp_path: Path) -> None:
    file = tmp_path / "conf" / "experiment" / "mine" / "first.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(
        "# @package _global_\ndefaults:\n  - override /study: misbehaving\nstudy: {level: 7}\n"
    )
    given = ["--config-dir", str(tmp_path / "conf"), "experiment=mine/first", "tracking=off"]
    assert main(["run", *given]) == 0
    (folder,) = folders(outputs)
    assert read(folder)["experiment"] == "mine/first"
    assert read(folder).metrics["level"] == 7


@pytest.mark.usefixtures("misbehaving", "tracked")
def test_strange_text_is_kept_as_text(outputs: Path) -> None:
    item = hostile.as_override("source.item", hostile.TITLE)
    assert main(["run", "-m", "study=misbehaving", item, "study.level=1,2"]) == 0
    assert {read(p).source.item for p in folders(outputs)} == {hostile.TITLE}
    with sqlite3.connect(outputs / "mlflow.db") as database:
        notes = database.execute("SELECT value FROM tags WHERE key = 'mlflow.note.content'")
        assert not [note for (note,) in notes.fetchall() if "**" in note and "<script>" in note]


@pytest.mark.usefixtures("misbehaving")
def test_damaged_records_are_told_in_a_line(outputs: Path, tmp_path: Path, capsys: Capture) -> None:
    assert main(["run", "study=misbehaving", "tracking=off"]) == 0
    (folder,) = folders(outputs)
    trap, arrays, record = tmp_path / "sprung", folder / "arrays.npz", folder / "run.json"
    ways: dict[Path, dict[str, Any]] = {
        arrays: hostile.damaged_arrays(arrays, trap),
        record: hostile.damaged_record(record),
    }
    for file, damages in ways.items():
        whole = file.read_bytes()
        for damage in damages.values():
            damage()
            refused(capsys, ["verify", folder.name], str(folder))
            file.write_bytes(whole)
    assert main(["verify", folder.name]) == 0
    assert not trap.exists()


def test_a_data_file_with_the_wrong_hash_is_refused(
    outputs: Path, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "data" / "fcml" / "kmeansdata" / "X.csv"
    file.parent.mkdir(parents=True)
    file.write_text("1,2\n" * 100)
    study = ["study=cluster_path", "study.data=fcml-kmeans", f"data.dir={tmp_path / 'data'}"]
    refused(capsys, ["run", *study], "is damaged or not the right one")
    refused(capsys, ["run", "-m", *study, "seed=1,2"], "is damaged or not the right one")
    assert not list(outputs.iterdir())


TYPED = "http://user-typed:word/typed@127.0.0.1:9"
SECRETS = ("user-typed", "word/typed", "user-of-the-env", "word-of-the-env")
TO_SERVER = ["tracking=server", f"tracking.uri={TYPED}"]
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
def test_credentials_reach_no_record_no_tag_and_no_line(
    tmp_path: Path,
    tracked: LocalTracker,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    answers: bool,
) -> None:
    """Records, provenance, Hydra's files, MLflow's database and artifacts, and the console."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("experiments.tracking.client.PAUSES", ())
    monkeypatch.setattr(sys, "argv", ["bythebook", *WITH_CREDENTIALS[name]])
    monkeypatch.setenv("MLFLOW_TRACKING_URI", TYPED)
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "user-of-the-environment")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "word-of-the-environment")
    monkeypatch.setenv("PGPASSWORD", "word-of-the-environment")
    if answers:
        from mlflow import MlflowClient

        monkeypatch.setattr(ClientTracker, "client", MlflowClient(tracked.uri))
    environment.cache_clear()
    try:
        assert main(WITH_CREDENTIALS[name]) == 0
    finally:
        environment.cache_clear()
    told = capsys.readouterr()
    assert ("not tracked (http://***@127.0.0.1:9" in told.err) != answers
    assert bool(tracked.logged()) == answers
    assert bool(list(tmp_path.glob("mlruns/*/*"))) == answers
    (typed, *_) = [read(p)["provenance"]["command"] for p in folders(tracked.database.parent)]
    assert typed.endswith(
        ("tracking=server", "${oc.env:MLFLOW_TRACKING_URI,null}", "***@127.0.0.1:9")
    )
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    for secret in SECRETS:
        assert secret not in told.out + told.err
        assert not [content for content in written if secret.encode() in content]
