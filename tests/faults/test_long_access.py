"""Requests to the tracking server through nginx: rejected without a password, slowed down."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harness import (
    PATIENCE,
    Server,
    Tracked,
    ask,
    command,
    descendants,
    finish,
    free_port,
    living,
    run,
    wait_for,
)
from services import Nginx

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore")]

PAGES = "/ajax-api/2.0/mlflow"
SEARCH = "/api/2.0/mlflow/experiments/search?max_results=1"
# Every route of the application, and the methods that it takes.
ROUTES = """
import json
from mlflow.server import app
from mlflow.server.fastapi_app import create_fastapi_app
native = create_fastapi_app(app).routes
found = [[m, r.path] for r in native for m in getattr(r, "methods", None) or ()]
found += [[m, r.rule] for r in app.url_map.iter_rules() for m in r.methods]
print(json.dumps(found))
"""


def test_no_route_is_open_without_credentials(nginx: Nginx, tmp_path: Path) -> None:
    """No credentials, a token, a wrong password, or one in the header of the gateway."""
    store = {"MLFLOW_BACKEND_STORE_URI": "sqlite:///mlflow.db"}
    process = subprocess.run(
        [sys.executable, "-c", ROUTES],
        env={**os.environ, **store, "_MLFLOW_SERVER_ARTIFACT_DESTINATION": "artifacts"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    routes = {(method, path) for method, path in json.loads(process.stdout.splitlines()[-1])}
    nginx.add_user("alice", "alices-Password.1")
    headers = ({}, {"Authorization": "Bearer x"}, {"X-MLflow-Authorization": "Basic eDp5"})

    def refused(route: tuple[str, str]) -> list[int]:
        method, path = route
        concrete = "/".join("1" if part[:1] in "<{" and part else part for part in path.split("/"))
        sent = None if method in ("GET", "HEAD") else b"{}"
        address = nginx.uri + concrete
        return [
            ask(address, sent, method=method, trusted=nginx.trusted, **header)[0]
            for header in headers
        ]

    with ThreadPoolExecutor(18) as pool:  # each answer takes a second, of 20 at a time
        answers = dict(zip(routes, pool.map(refused, routes), strict=True))
    print(f"{len(headers) * len(answers)} requests to {len(routes)} routes")
    assert len(routes) > 200
    assert {route: codes for route, codes in answers.items() if set(codes) != {401}} == {}


def test_guesses_wait_and_disturb_nobody(nginx: Nginx) -> None:
    alice = nginx.add_user("alice", "alices-Password.1")
    address, trusted = nginx.uri + SEARCH, nginx.trusted

    def guess(number: int) -> int:
        return ask(address, who=("alice", f"guess {number}"), trusted=trusted)[0]

    started = time.monotonic()
    with ThreadPoolExecutor(60) as pool:
        answers = Counter(pool.map(guess, range(120)))
    seconds = time.monotonic() - started
    print(f"{dict(answers)} in {seconds:.1f} s")
    assert answers.keys() == {401, 429}
    assert answers[401] <= 20 * (seconds + 1)  # 20 connections, a second each
    assert ask(address, who=alice, trusted=trusted)[0] == 200
    nginx.add_user("bob", "bobs-Password.2")
    assert ask(address, who=("bob", "bobs-Password.2"), trusted=trusted)[0] == 200
    nginx.remove_user("alice")
    assert ask(address, who=alice, trusted=trusted)[0] == 401


def test_mlflow_does_not_see_the_passwords(nginx: Nginx, server: Server) -> None:
    alice = nginx.add_user("alice", "alices-Password.1")
    sent = {"name": "of alice"}
    created = f"{nginx.uri}/api/2.0/mlflow/experiments/create"
    assert ask(created, sent, who=alice, trusted=nginx.trusted)[0] == 200
    assert alice[1] not in server.log


def test_a_sweep_through_nginx(nginx: Nginx, server: Server, outputs: Path, tmp_path: Path) -> None:
    """The configuration of docs/server.md: runs and artifacts arrive."""
    name, secret = nginx.add_user("alice", "alices-Password.1")
    alice = {"MLFLOW_TRACKING_USERNAME": name, "MLFLOW_TRACKING_PASSWORD": secret}
    trusted = {"MLFLOW_TRACKING_SERVER_CERT_PATH": str(nginx.certificate), **alice}
    sweep = ["run", "-m", "study=misbehaving", "study.level=range(0,6)", "tracking=server"]
    code, _, err = run(outputs, *sweep, f"tracking_uri={nginx.uri}", **trusted)
    assert code == 0, err
    assert "MLflow is unavailable" not in err
    Tracked(server.uri).check_against(outputs, sweeps=1)
    assert list(server.artifacts.rglob("cells.csv"))
    doubting = tmp_path / "doubting"
    code, _, err = run(doubting, *sweep, f"tracking_uri={nginx.uri}", **alice)
    assert code == 0
    assert err.count("MLflow is unavailable") == 1
    assert "certificate" in err.lower()


def _serving(port: int) -> Callable[[], bool]:
    def answers() -> bool:
        return Server(Path(), port=port).ask("/health")[0] == 200

    def quietly() -> bool:
        try:
            return answers()
        except OSError:
            return False

    return quietly


def mentioning(word: str) -> set[int]:
    process = subprocess.run(["ps", "-A", "-o", "pid=,args="], capture_output=True, text=True)
    return {int(line.split()[0]) for line in process.stdout.splitlines() if word in line}


@pytest.mark.parametrize("moment", ["starting", "serving"])
@pytest.mark.parametrize("name", ["ui", "explore"])
def test_no_process_outlives_a_command_that_serves(outputs: Path, name: str, moment: str) -> None:
    port = free_port()
    process = command(outputs, name, "--port", str(port), "--no-browser")
    try:
        if moment == "starting":
            time.sleep(random.Random(name).uniform(2.0, 10.0))
        elif name == "explore":
            _explored(process, port)
        else:
            wait_for(_serving(port))
        everybody = descendants(process.pid)
        assert everybody or moment == "starting"
        os.kill(process.pid, signal.SIGKILL)
        wait_for(lambda: not living(everybody | mentioning(f"--port {port}")))
    finally:
        for left in living({process.pid} | descendants(process.pid)):
            os.kill(left, signal.SIGKILL)
        finish(process)


def _explored(process: "subprocess.Popen[str]", port: int) -> None:
    """Request a run from the page like a browser, which starts a worker."""
    assert process.stdout is not None
    address = next(line for line in process.stdout if "token=" in line)
    cookie = f"bythebook-{port}={address.strip().partition('token=')[2]}"
    own = {"Cookie": cookie, "Origin": f"http://127.0.0.1:{port}"}
    asked = {"tab": "t", "result": "fcml/fig-1.15", "values": {}}
    status, text = Server(Path(), port=port).ask("/run", asked, **own)
    assert status == 200, text
    assert "problems" not in json.loads(text)


def test_the_ui_answers_to_loopback_names_alone(outputs: Path) -> None:
    port = free_port()
    process = command(outputs, "ui", "--port", str(port), "--no-browser")
    try:
        wait_for(_serving(port))
        asked = Server(Path(), port=port)
        for host in ("127.0.0.1", "localhost", "[::1]"):
            assert (
                asked.ask(f"{PAGES}/experiments/search?max_results=1", Host=f"{host}:{port}")[0]
                == 200
            )
        for host in ("10.0.0.7", "192.168.1.1", "172.16.0.1", "10.evil.example", "evil.example"):
            for shown in (host, f"{host}:{port}", f"{host}:80"):
                assert asked.ask("/", Host=shown)[0] == 403, shown
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        finish(process)
