"""Requests to the tracking server without permission: rejected, without effect on other users."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from harness import (
    PASSWORD,
    PATIENCE,
    Server,
    Tracked,
    command,
    descendants,
    finish,
    free_port,
    living,
    run,
    wait_for,
)
from services import Nginx, Postgres, missing_nginx

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore")]

ADMIN = ("admin", PASSWORD)
API, PAGES = "/api/2.0/mlflow", "/ajax-api/2.0/mlflow"
SEARCH = f"{API}/experiments/search?max_results=1"
# Every route of the application, and the methods that it takes.
ROUTES = """
import json, os
os.environ["_MLFLOW_SGI_NAME"] = "uvicorn"
os.environ["_MLFLOW_SERVER_ARTIFACT_DESTINATION"] = "artifacts"
from mlflow.server import app
from bythebook.experiments.tracking.server_app import create_app
native = create_app().inner.routes
found = [[m, r.path] for r in native for m in getattr(r, "methods", None) or ()]
found += [[m, r.rule] for r in app.url_map.iter_rules() for m in r.methods]
print(json.dumps(found))
"""


@pytest.fixture(params=[1, 2], ids=["one worker", "two workers"])
def crowd(request: Any, tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "server", options=("--workers", str(request.param))).start()
    try:
        yield made.ready()
    finally:
        made.kill()


@pytest.fixture(params=["sqlite", "postgresql"])
def stored(request: Any, tmp_path: Path) -> Iterator[Server]:
    """A server with each type of database."""
    made = Server(tmp_path / "server")
    if request.param == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        made.store, made.variables = postgres.store, {"PGPASSWORD": postgres.password}
    try:
        yield made.start().ready()
    finally:
        made.kill()


def created(server: Server, who: tuple[str, str], name: str, **stated: str) -> str:
    status, text = server.ask(f"{API}/experiments/create", who, {"name": name, **stated})
    assert status == 200, text
    return str(json.loads(text)["experiment_id"])


def started(server: Server, who: tuple[str, str], experiment: str) -> dict[str, str]:
    stated = {"experiment_id": experiment, "start_time": 1}
    status, text = server.ask(f"{API}/runs/create", who, stated)
    assert status == 200, text
    info: dict[str, str] = json.loads(text)["run"]["info"]
    return info


def test_no_route_is_open_without_credentials(server: Server, tmp_path: Path) -> None:
    """No credentials, a token, or a wrong password in the header of the gateway."""
    auth = tmp_path / "auth.ini"
    auth.write_text((server.folder / "server" / "auth.ini").read_text())
    variables = {
        "MLFLOW_AUTH_CONFIG_PATH": str(auth),
        "MLFLOW_AUTH_ADMIN_PASSWORD": PASSWORD,
        "MLFLOW_FLASK_SERVER_SECRET_KEY": "x",
        "MLFLOW_BACKEND_STORE_URI": "sqlite:///mlflow.db",
    }
    process = subprocess.run(
        [sys.executable, "-c", ROUTES],
        env={**os.environ, **variables},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    routes = {(method, path) for method, path in json.loads(process.stdout.splitlines()[-1])}
    open_to_all, asked = set(), 0
    for method, path in sorted(routes):
        if method == "OPTIONS":  # the preflight request of a browser
            continue
        concrete = "/".join("1" if part[:1] in "<{" and part else part for part in path.split("/"))
        for header in ({}, {"Authorization": "Bearer x"}, {"X-MLflow-Authorization": "Basic eDp5"}):
            status, text = server.ask(
                concrete, None, None if method in ("GET", "HEAD") else b"{}", method, **header
            )
            asked += 1
            assert status < 500, (method, concrete, text)
            if status not in (401, 403):
                open_to_all.add((method, path, status))
    print(f"{asked} requests to {len(routes)} routes; open: {sorted(open_to_all)}")
    assert asked >= 3 * 541
    expected = ("/health", "/version", "/static-files", "/server-info", "/favicon")
    assert not [path for _, path, _ in open_to_all if not any(name in path for name in expected)]


def test_headers_that_are_no_password_are_nobody(server: Server) -> None:
    for header in ("Bearer x", "Basic", "Basic !!!", "Basic //46eA==", "Digest x", "x" * 5000):
        for path in (SEARCH, f"{PAGES}/users/current", "/api/2.0/mlflow-artifacts/artifacts", "/"):
            assert server.ask(path, Authorization=header)[0] == 401
        assert server.ask("/health", Authorization=header)[0] == 200
    assert "Traceback" not in server.log


def test_artifacts_go_nowhere_but_below_the_servers_folder(stored: Server, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    alice = stored.create_user("alice", "alices-Password.1")
    below = f"{stored.folder}/server/artifacts"
    places = [
        elsewhere.as_uri(),
        str(elsewhere),
        "elsewhere",
        f"{below}/../../elsewhere",
        "mlflow-artifacts:/../../elsewhere",
        "mlflow-artifacts:/%2e%2e/%2e%2e/elsewhere",
        "mlflow-artifacts://127.0.0.1:9/x",
        "s3://bucket/x",
        "http://127.0.0.1:9/x",
        "ftp://127.0.0.1:9/x",
        "unknown://x",
    ]
    for number, place in enumerate(places):
        for who in (alice, ADMIN):
            for key in ("artifact_location", "artifactLocation"):
                stated = {"name": f"{who[0]} {number}", key: place}
                for path in (f"{API}/experiments/create", f"{PAGES}/experiments/create"):
                    assert stored.ask(path, who, stated)[0] == 400, place
    assert stored.ask(f"{API}/registered-models/create", alice, {"name": "m"})[0] == 200
    for place in places:
        stated = {"name": "m", "source": place}
        assert stored.ask(f"{API}/model-versions/create", alice, stated)[0] == 400, place
    own = started(stored, alice, created(stored, alice, "own"))
    there = started(
        stored, alice, created(stored, alice, "there", artifact_location="mlflow-artifacts:/there")
    )
    for info in (own, there):
        place = f"run_uuid={info['run_id']}&path=a/b.txt"
        assert stored.ask(f"{PAGES}/upload-artifact?{place}", alice, b"hello")[0] == 200
        climbing = f"run_uuid={info['run_id']}&path=../../../b.txt"
        assert stored.ask(f"{PAGES}/upload-artifact?{climbing}", alice, b"hello")[0] == 400
    assert stored.ask(f"/get-artifact?run_uuid={own['run_id']}&path=a/b.txt", alice)[1] == "hello"
    found = list(tmp_path.rglob("b.txt"))
    assert found
    assert all(path.is_relative_to(below) for path in found)
    assert not elsewhere.exists()


def test_what_an_older_server_let_in_opens_nothing(server: Server, tmp_path: Path) -> None:
    """Recorded locations outside the folder are not accessible."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "word.txt").write_text("secret")
    alice = server.create_user("alice", "alices-Password.1")
    experiment = created(server, alice, "older")
    with closing(sqlite3.connect(server.folder / "server" / "mlflow.db")) as database:
        sql = "UPDATE experiments SET artifact_location = ? WHERE experiment_id = ?"
        database.execute(sql, [secret.as_uri(), experiment])
        database.commit()
    info = started(server, alice, experiment)
    with closing(sqlite3.connect(server.folder / "server" / "mlflow.db")) as database:
        sql = "UPDATE runs SET artifact_uri = ? WHERE run_uuid = ?"
        database.execute(sql, [secret.as_uri(), info["run_id"]])
        database.commit()
    run_id = info["run_id"]
    for path, sent in (
        (f"/get-artifact?run_uuid={run_id}&path=word.txt", None),
        (f"{API}/artifacts/list?run_id={run_id}", None),
        (f"{PAGES}/upload-artifact?run_uuid={run_id}&path=new.txt", b"x"),
    ):
        status, text = server.ask(path, alice, sent)
        assert 400 <= status < 500, text
        assert "word" not in text.replace("word.txt", "")
    assert [path.name for path in secret.iterdir()] == ["word.txt"]


def test_users_hear_nothing_of_each_other(server: Server) -> None:
    alice = server.create_user("alice", "alices-Password.1")
    bob = server.create_user("bob", "bobs-Password.2")
    experiment = created(server, alice, "of alice")
    about = [
        "users/list",
        "users/get?username=bob",
        "users/permissions/list?username=bob",
        "users/roles/list?username=bob",
        f"users/permissions/get?username=bob&resource_type=experiment&resource_id={experiment}",
        f"experiments/permissions/get?username=bob&experiment_id={experiment}",
        "roles/list",
    ]
    for root in (API, PAGES, "/api/3.0/mlflow", "/ajax-api/3.0/mlflow"):
        for path in about:
            status, text = server.ask(f"{root}/{path}", alice)
            assert status in (403, 404), (path, text)
            assert "bob" not in text
    assert server.ask(f"{API}/users/get?username=alice", alice)[0] == 200
    status, text = server.ask(f"{API}/users/list", ADMIN)
    assert {user["username"] for user in json.loads(text)["users"]} == {"admin", "alice", bob[0]}


def test_guesses_slow_down_and_disturb_nobody(crowd: Server) -> None:
    alice = crowd.create_user("alice", "alices-Password.1")
    workers = int(crowd.options[-1])
    for _ in range(40):  # until each worker has let them in
        assert crowd.ask(SEARCH, alice)[0] == crowd.ask(SEARCH, ADMIN)[0] == 200
    answers: Counter[int] = Counter()
    for attempt in range(40):
        answers[crowd.ask(SEARCH, ("admin", f"guess {attempt}"))[0]] += 1
        assert crowd.ask(SEARCH, alice)[0] == 200
    assert crowd.ask(SEARCH, ADMIN)[0] == 200
    print(f"{workers} workers: {dict(answers)}")
    assert answers.keys() == {401, 429}
    assert answers[401] >= 6


def test_a_password_that_is_changed_is_wrong_at_once_in_every_worker(crowd: Server) -> None:
    alice = crowd.create_user("alice", "alices-Password.1")
    bob = crowd.create_user("bob", "bobs-Password.2")
    paths = (SEARCH, "/api/2.0/mlflow-artifacts/artifacts?path=1", f"{PAGES}/users/current")
    for _ in range(20):
        assert {crowd.ask(path, who)[0] for path in paths for who in (alice, bob)} <= {200, 403}
    stated = {"username": "alice", "password": "alices-Password.3"}
    assert crowd.ask(f"{API}/users/update-password", ADMIN, stated, "PATCH")[0] == 200
    assert {crowd.ask(paths[i % 3], alice)[0] for i in range(4)} == {401}
    for _ in range(10):
        assert crowd.ask(SEARCH, ("alice", "alices-Password.3"))[0] == 200
    gone = {"username": "bob"}
    assert crowd.ask(f"{API}/users/delete", ADMIN, gone, "DELETE")[0] == 200
    assert {crowd.ask(path, bob)[0] for path in paths} == {401}
    assert "Traceback" not in crowd.log


def to(server: Server) -> list[str]:
    return ["--tracking", "server", "--tracking-uri", server.uri]


def as_user(who: tuple[str, str]) -> dict[str, str]:
    return {"MLFLOW_TRACKING_USERNAME": who[0], "MLFLOW_TRACKING_PASSWORD": who[1]}


def test_a_run_that_is_refused_costs_a_line_and_not_the_others(
    stored: Server, tmp_path: Path
) -> None:
    """Bob may not delete in Alice's experiment, and later he may not read it."""
    alice = stored.create_user("alice", "alices-Password.1")
    bob = stored.create_user("bob", "bobs-Password.2")
    hers, his = tmp_path / "alice", tmp_path / "bob"
    cells = ["run", "-m", "study=misbehaving", "tracking=off"]
    assert run(hers, *cells, "study.level=0")[0] == 0
    code, _, err = run(hers, "sync", *to(stored), **as_user(alice))
    assert code == 0, err  # the experiment is hers
    assert run(his, *cells, "study.level=1,2")[0] == 0
    assert run(his, "sync", *to(stored), **as_user(bob))[0] == 0
    # A request of his that was answered too late: one record is there twice.
    mine = (his / ".id").read_text().strip()
    runs = [r for r in Tracked(stored.uri).runs() if r.data.tags["bythebook.outputs"] == mine]
    twice = next(r for r in runs if r.data.tags["kind"] == "cell")
    record = twice.data.tags["bythebook.run_id"]
    tags = [{"key": k, "value": v} for k, v in twice.data.tags.items() if "bythebook" in k]
    late = {"experiment_id": twice.info.experiment_id, "start_time": 1, "tags": tags}
    assert stored.ask(f"{API}/runs/create", bob, late)[0] == 200
    assert run(his, *cells, "study.level=3")[0] == 0
    code, out, err = run(his, "sync", *to(stored), **as_user(bob))
    assert (code, err.count("\n")) == (1, 1), err
    assert f"of {record}, which another user owns" in err
    first_error = err
    code, out, err = run(his, "sync", *to(stored), **as_user(bob))
    assert (code, err) == (0, ""), err  # reported once
    assert out == "0 runs logged, 5 already present\n"  # three cells, two sweeps
    left = {"run_id": first_error.split("duplicate run ")[1].split()[0]}
    assert stored.ask(f"{API}/runs/delete", bob, left)[0] == 403
    assert stored.ask(f"{API}/runs/delete", alice, left)[0] == 200
    # Hers is closed to him from now on; what is not hers he logs as before.
    stated = {"username": "bob", "resource_type": "experiment"}
    stated |= {"resource_id": twice.info.experiment_id, "permission": "DENY"}
    assert stored.ask("/api/3.0/mlflow/users/permissions/grant", ADMIN, stated)[0] == 200
    assert run(his, "run", "study=misbehaving", "study.level=4", "tracking=off")[0] == 0
    assert run(his, "run", "study=polynomial_order", "tracking=off")[0] == 0
    for logged in ("1 runs logged, 0 already", "0 runs logged, 1 already"):
        code, out, err = run(his, "sync", *to(stored), **as_user(bob))
        assert code == 1
        assert "Traceback" not in err
        assert err.count("could not log") == 3, err  # two sweeps, and the run
        assert logged in out
    his_runs = [
        r.data.tags["bythebook.run_id"]
        for r in Tracked(stored.uri).runs()
        if r.data.tags.get("bythebook.outputs") == mine and "bythebook.run_id" in r.data.tags
    ]
    assert len(his_runs) == len(set(his_runs)) == 5 + 1  # none of them twice


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[tuple[Server, Nginx]]:
    missing = missing_nginx()
    if missing:
        pytest.skip(missing)
    server = Server(tmp_path / "server", options=("--allowed-hosts", "localhost")).start()
    nginx = None
    try:
        nginx = Nginx(tmp_path / "nginx", server.ready().port)
        yield server, nginx
    finally:
        if nginx is not None:
            nginx.stop()
        server.kill()


def test_a_sweep_through_a_proxy_with_tls(
    proxy: tuple[Server, Nginx], outputs: Path, tmp_path: Path
) -> None:
    """The configuration of docs/server.md: runs, artifacts and client addresses arrive."""
    server, nginx = proxy
    alice = server.create_user("alice", "alices-Password.1")
    trusted = {"MLFLOW_TRACKING_SERVER_CERT_PATH": str(nginx.certificate), **as_user(alice)}
    sweep = ["run", "-m", "study=misbehaving", "study.level=range(0,6)", "tracking=server"]
    code, _, err = run(outputs, *sweep, f"tracking_uri={nginx.uri}", **trusted)
    assert code == 0, err
    assert "MLflow is unavailable" not in err
    Tracked(server.uri).check_against(outputs, sweeps=1)
    assert list((server.folder / "server" / "artifacts").rglob("cells.csv"))
    doubting = tmp_path / "doubting"
    code, _, err = run(doubting, *sweep, f"tracking_uri={nginx.uri}", **as_user(alice))
    assert code == 0
    assert err.count("MLflow is unavailable") == 1
    assert "certificate" in err.lower()
    _guess_through(server, nginx)


def _guess_through(server: Server, nginx: Nginx) -> None:
    """Many names from one address must wait; other addresses and users need not."""
    bob = server.create_user("bob", "bobs-Password.2")

    def ask(address: str, who: str) -> str:
        command = [
            "curl",
            "--silent",
            "--interface",
            address,
            "--user",
            who,
            "--output",
            "/dev/null",
        ]
        command += ["--cacert", str(nginx.certificate), "--write-out", "%{http_code}"]
        return subprocess.check_output([*command, f"{nginx.uri}{SEARCH}"], text=True)

    assert Counter(ask("127.0.0.2", f"user{i}:guess") for i in range(30))["429"] > 0
    assert ask("127.0.0.2", ":".join(bob)) == "429"
    assert ask("127.0.0.3", ":".join(bob)) == "200"


def _serving(port: int) -> Callable[[], bool]:
    def answers() -> bool:
        return Server(Path(), port=port).ask("/health")[0] == 200

    def quietly() -> bool:
        try:
            return answers()
        except OSError:
            return False

    return quietly


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("victim", ["command", "supervisor"])
def test_no_process_outlives_the_server(tmp_path: Path, workers: int, victim: str) -> None:
    server = Server(tmp_path / "server", options=("--workers", str(workers))).start().ready()
    assert server.process is not None
    pid = server.process.pid
    everybody = {pid} | descendants(pid)
    assert len(everybody) > workers
    try:
        first = min(descendants(pid), key=lambda other: len(descendants(pid) - descendants(other)))
        os.kill(pid if victim == "command" else first, signal.SIGKILL)
        server.process.wait(timeout=PATIENCE)
        wait_for(lambda: not living(everybody))
        assert not _serving(server.port)()
    finally:
        for left in living(everybody):
            os.kill(left, signal.SIGKILL)
    again = Server(server.folder, port=server.port).start().ready()  # the port is free
    again.kill()


def mentioning(word: str) -> set[int]:
    process = subprocess.run(["ps", "-A", "-o", "pid=,args="], capture_output=True, text=True)
    return {int(line.split()[0]) for line in process.stdout.splitlines() if word in line}


@pytest.mark.parametrize("moment", ["starting", "serving"])
@pytest.mark.parametrize("name", ["ui", "explore", "server"])
def test_no_process_outlives_a_command_that_serves(outputs: Path, name: str, moment: str) -> None:
    port = free_port()
    words = [name, "--port", str(port), *([] if name == "server" else ["--no-browser"])]
    process = command(outputs, *words, MLFLOW_AUTH_ADMIN_PASSWORD=PASSWORD)
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
    status, text = Server(Path(), port=port).ask("/run", None, asked, **own)
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
