"""Tracking for many machines, disturbed: everything is logged in the end, and once."""

import os
import random
import signal
import time
from pathlib import Path

import pytest
from harness import (
    NOBODY,
    PASSWORD,
    Server,
    Tracked,
    command,
    finish,
    folders,
    outcomes,
    run,
    wait_for,
)
from services import Postgres

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore")]

SWEEP = ["run", "-m", "study=misbehaving", "study.seconds=0.3", "jobs=2", "study.level=range(0,40)"]


def to(server: Server) -> list[str]:
    return ["tracking=server", f"tracking.uri={server.uri}"]


def sync(outputs: Path, server: Server, **variables: str) -> str:
    again = ["sync", "--tracking", "server", "--tracking-uri", server.uri]
    code, out, err = run(outputs, *again, **variables)
    assert code == 0, err
    return out


def test_postgresql_is_restarted_in_mid_sweep(
    outputs: Path, tmp_path: Path, postgres: Postgres
) -> None:
    moments = random.Random(3)
    server = Server(tmp_path / "server", postgres.store, {"PGPASSWORD": postgres.password})
    try:
        server.start().ready()
        process = command(outputs, *SWEEP, *to(server))
        for how in ("fast", "immediate", "fast"):
            time.sleep(moments.uniform(2.0, 5.0))
            postgres.control("restart", "-m", how)
        code, out, err = finish(process)
        assert code == 0, err
        assert "40 cells: 40 computed, 0 found, 0 failed" in out
        assert "Traceback" not in err
        sync(outputs, server)
        Tracked(server.uri).check_against(outputs, sweeps=1)
        assert sync(outputs, server) == "0 runs logged, 41 were there already\n"
        assert postgres.password not in server.log
        assert PASSWORD not in server.log
    finally:
        server.kill()


@pytest.mark.parametrize("seconds", [8, 60])
def test_a_server_that_does_not_answer_for_a_while(
    outputs: Path, server: Server, seconds: int
) -> None:
    """Stopped, not dead: connections are taken and requests wait, to be answered much later."""
    process = command(outputs, *SWEEP, *to(server))
    wait_for(lambda: len(folders(outputs)) > 5)
    server.signal(signal.SIGSTOP)
    time.sleep(seconds)
    server.signal(signal.SIGCONT)
    code, out, err = finish(process)
    assert code == 0, err
    assert "40 cells: 40 computed, 0 found, 0 failed" in out
    sync(outputs, server)
    Tracked(server.uri).check_against(outputs, sweeps=1)
    assert sync(outputs, server) == "0 runs logged, 41 were there already\n"


def test_a_server_that_is_not_there_for_the_whole_sweep(outputs: Path, server: Server) -> None:
    server.kill()
    code, _, err = run(outputs, *SWEEP, *to(server))
    assert code == 0, err
    assert err.count("not tracked") == 1
    assert len(folders(outputs)) == 40
    code, _, err = run(outputs, "sync", "--tracking", "server", "--tracking-uri", server.uri)
    assert code == 1
    assert "cannot be reached" in err
    server.start().ready()
    assert sync(outputs, server) == "40 runs logged, 0 were there already\n"
    Tracked(server.uri).check_against(outputs, sweeps=1)


def test_two_users_sweep_into_one_server(tmp_path: Path, server: Server) -> None:
    """The same sweep at the same moment from two outputs folders: each has its own runs there."""
    users = [tmp_path / "alice", tmp_path / "bob"]
    both = [command(outputs, *SWEEP, *to(server)) for outputs in users]
    for process in both:
        code, _, err = finish(process)
        assert code == 0, err
        assert "not tracked" not in err
    for outputs in users:
        Tracked(server.uri).check_against(outputs, sweeps=1)
        assert sync(outputs, server) == "0 runs logged, 41 were there already\n"
    assert outcomes(users[0]) == outcomes(users[1])
    assert len(Tracked(server.uri).runs()) == 2 * 41


def test_two_users_in_one_outputs_folder_sweep_into_one_server(
    outputs: Path, server: Server
) -> None:
    """One sweep twice and one that overlaps it, all at the same moment."""
    wider = [*SWEEP[:-1], "study.level=range(20,60)"]
    three = [command(outputs, *sweep, *to(server)) for sweep in (SWEEP, SWEEP, wider)]
    for process in three:
        code, _, err = finish(process)
        assert code == 0, err
        assert "not tracked" not in err
    assert len(outcomes(outputs)) == 60
    Tracked(server.uri).check_against(outputs, sweeps=2)
    assert (
        sync(outputs, server) == "0 runs logged, 82 were there already\n"
    )  # 20 of them below both sweeps


def test_a_sweep_is_killed_while_its_server_does_not_answer(outputs: Path, server: Server) -> None:
    """The server wakes up and serves a dead sweep's requests: still nothing is there twice."""
    for _ in range(3):
        process = command(outputs, *SWEEP, *to(server))
        before = len(folders(outputs))
        wait_for(lambda before=before: len(folders(outputs)) > before + 3)  # type: ignore[misc]
        server.signal(signal.SIGSTOP)
        time.sleep(2)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        server.signal(signal.SIGCONT)
    code, _, err = run(outputs, *SWEEP, *to(server))
    assert code == 0, err
    Tracked(server.uri).check_against(outputs, sweeps=1)


def test_credentials_open_the_server_and_are_written_nowhere(
    tmp_path: Path, server: Server
) -> None:
    """One user by the environment, one by a password in the address, one not at all."""
    secrets = {"alice": "alices-Password.1", "bob": "bobs-Password.2"}
    sweep = ["run", "-m", "study=misbehaving", "study.level=range(0,6)"]
    for name, secret in secrets.items():
        server.create_user(name, secret)
    alice, bob, nobody = (tmp_path / name for name in ("alice", "bob", "nobody"))
    ended = [
        run(
            alice,
            *[*sweep, *to(server)],
            MLFLOW_TRACKING_USERNAME="alice",
            MLFLOW_TRACKING_PASSWORD=secrets["alice"],
        )
    ]
    address = server.uri.replace("://", f"://bob:{secrets['bob']}@")
    typed = [*sweep, "tracking=server", f"tracking.uri={address}"]
    ended.append(run(bob, *typed, **NOBODY))
    ended.append(run(bob, *typed, "seed=1", **NOBODY))
    ended.append(run(bob, "sync", "--tracking", "server", "--tracking-uri", address, **NOBODY))
    for code, _, err in ended:
        assert code == 0, err
        assert "not tracked" not in err
    refused = run(nobody, *sweep, *to(server), **NOBODY)
    assert refused[0] == 0
    assert "not tracked" in refused[2]
    assert len(outcomes(nobody)) == 6
    Tracked(server.uri).check_against(alice, sweeps=1)
    runs = Tracked(server.uri).runs()
    assert len(runs) == 7 + 7 + 7
    told = "".join(out + err for _, out, err in [*ended, refused])
    told += server.log + str([run.to_dictionary() for run in runs])
    for secret in (*secrets.values(), PASSWORD):
        assert secret not in told
        for folder in (alice, bob, nobody, server.folder):
            for path in folder.rglob("*"):
                assert not path.is_file() or secret.encode() not in path.read_bytes()
