"""Tracking on a server with faults: at the end every run is logged once."""

import os
import random
import signal
import time
from pathlib import Path

import pytest
from harness import (
    NO_CREDENTIALS,
    Server,
    Tracked,
    command,
    finish,
    folders,
    outcomes,
    run,
    wait_for,
)
from services import Nginx, Postgres

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore")]

SWEEP = ["run", "-m", "study=misbehaving", "study.seconds=0.3", "jobs=2", "study.level=range(0,40)"]


def to(server: Server) -> list[str]:
    return ["tracking=server", f"tracking_uri={server.uri}"]


def sync(outputs: Path, server: Server, **variables: str) -> str:
    again = ["sync", "--tracking", "server", "--tracking-uri", server.uri]
    code, out, err = run(outputs, *again, **variables)
    assert code == 0, err
    return out


def test_postgresql_is_restarted_during_a_sweep(
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
        assert "40 runs: 40 computed, 0 cached, 0 failed" in out
        assert "Traceback" not in err
        sync(outputs, server)
        Tracked(server.uri).check_against(outputs, sweeps=1)
        assert sync(outputs, server) == "0 runs logged, 41 already present\n"
        assert postgres.password not in server.log
    finally:
        server.kill()


@pytest.mark.parametrize("seconds", [8, 60])
def test_a_server_is_stopped_for_some_time(outputs: Path, server: Server, seconds: int) -> None:
    """The server accepts connections but answers much later."""
    process = command(outputs, *SWEEP, *to(server))
    wait_for(lambda: len(folders(outputs)) > 5)
    server.signal(signal.SIGSTOP)
    time.sleep(seconds)
    server.signal(signal.SIGCONT)
    code, out, err = finish(process)
    assert code == 0, err
    assert "40 runs: 40 computed, 0 cached, 0 failed" in out
    sync(outputs, server)
    Tracked(server.uri).check_against(outputs, sweeps=1)
    assert sync(outputs, server) == "0 runs logged, 41 already present\n"


def test_a_server_is_unavailable_during_a_sweep(outputs: Path, server: Server) -> None:
    server.kill()
    code, _, err = run(outputs, *SWEEP, *to(server))
    assert code == 0, err
    assert err.count("MLflow is unavailable") == 1
    assert len(folders(outputs)) == 40
    code, _, err = run(outputs, "sync", "--tracking", "server", "--tracking-uri", server.uri)
    assert code == 1
    assert "is unavailable" in err
    server.start().ready()
    assert sync(outputs, server) == "40 runs logged, 0 already present\n"
    Tracked(server.uri).check_against(outputs, sweeps=1)


def test_two_users_sweep_into_one_server(tmp_path: Path, server: Server) -> None:
    """The same sweep at the same time from two outputs folders, each with its own runs."""
    users = [tmp_path / "alice", tmp_path / "bob"]
    both = [command(outputs, *SWEEP, *to(server)) for outputs in users]
    for process in both:
        code, _, err = finish(process)
        assert code == 0, err
        assert "MLflow is unavailable" not in err
    for outputs in users:
        Tracked(server.uri).check_against(outputs, sweeps=1)
        assert sync(outputs, server) == "0 runs logged, 41 already present\n"
    assert outcomes(users[0]) == outcomes(users[1])
    assert len(Tracked(server.uri).runs()) == 2 * 41


def test_two_users_in_one_outputs_folder_sweep_into_one_server(
    outputs: Path, server: Server
) -> None:
    """The same sweep twice and an overlapping one, at the same time."""
    wider = [*SWEEP[:-1], "study.level=range(20,60)"]
    three = [command(outputs, *sweep, *to(server)) for sweep in (SWEEP, SWEEP, wider)]
    for process in three:
        code, _, err = finish(process)
        assert code == 0, err
        assert "MLflow is unavailable" not in err
    assert len(outcomes(outputs)) == 60
    Tracked(server.uri).check_against(outputs, sweeps=2)
    assert (
        sync(outputs, server) == "0 runs logged, 82 already present\n"
    )  # 20 of them below both sweeps


def test_a_sweep_is_killed_while_its_server_is_stopped(outputs: Path, server: Server) -> None:
    """The server continues and serves the requests of the killed sweep; no run is duplicated."""
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


def test_credentials_are_used_and_not_written(tmp_path: Path, server: Server, nginx: Nginx) -> None:
    """One user with variables, one with a password in the address, one without credentials."""
    secrets = {"alice": "alices-Password.1", "bob": "bobs-Password.2"}
    for name, secret in secrets.items():
        nginx.add_user(name, secret)
    sweep = ["run", "-m", "study=misbehaving", "study.level=range(0,6)", "tracking=server"]
    trusted = {"MLFLOW_TRACKING_SERVER_CERT_PATH": str(nginx.certificate)}
    nobody = {**trusted, **NO_CREDENTIALS}
    alice, bob, anonymous = (tmp_path / name for name in ("alice", "bob", "anonymous"))
    own = {"MLFLOW_TRACKING_USERNAME": "alice", "MLFLOW_TRACKING_PASSWORD": secrets["alice"]}
    ended = [run(alice, *sweep, f"tracking_uri={nginx.uri}", **trusted, **own)]
    address = nginx.uri.replace("://", f"://bob:{secrets['bob']}@")
    typed = [*sweep, f"tracking_uri={address}"]
    ended.append(run(bob, *typed, **nobody))
    ended.append(run(bob, *typed, "seed=1", **nobody))
    ended.append(run(bob, "sync", "--tracking", "server", "--tracking-uri", address, **nobody))
    for code, _, err in ended:
        assert code == 0, err
        assert "MLflow is unavailable" not in err
    rejected = run(anonymous, *sweep, f"tracking_uri={nginx.uri}", **nobody)
    assert rejected[0] == 0
    assert "MLflow is unavailable" in rejected[2]
    assert len(outcomes(anonymous)) == 6
    Tracked(server.uri).check_against(alice, sweeps=1)
    runs = Tracked(server.uri).runs()
    assert len(runs) == 7 + 7 + 7
    output = "".join(out + err for _, out, err in [*ended, rejected])
    output += server.log + str([run.to_dictionary() for run in runs])
    for secret in secrets.values():
        assert secret not in output
        for folder in (alice, bob, anonymous, server.folder):
            for path in folder.rglob("*"):
                assert not path.is_file() or secret.encode() not in path.read_bytes()
