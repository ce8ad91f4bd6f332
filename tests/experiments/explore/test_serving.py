"""The server process: loopback only, and all processes end with it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.explore import serving

SLOW = {"study.rounds": "100000000", "study.repetitions": "100"}
RESULT = "mlapp/fig-16.18"
PATIENCE = 120  # seconds, on a busy machine


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.1", "example.org", "127.0.0.1.evil"])
def test_other_machines_are_refused(host: str) -> None:
    with pytest.raises(InputError, match=r"--host .* is not allowed; .*loopback only"):
        serving.bind_socket(host, 0)


def test_an_unavailable_port_is_reported() -> None:
    with serving.bind_socket("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert port > 0
        with pytest.raises(InputError, match=f"cannot listen on 127.0.0.1, port {port}: Address"):
            serving.bind_socket("127.0.0.1", port)
    for port in (-1, 65536):
        with pytest.raises(InputError, match=r"--port .* is not allowed"):
            serving.bind_socket("127.0.0.1", port)


def test_the_address_carries_the_token() -> None:
    address = serving.url_with_token("http://127.0.0.1:1/result/fcml/fig-1.15", "abc")
    assert address == "http://127.0.0.1:1/result/fcml/fig-1.15?token=abc"


class Server:
    """A server in its own process."""

    def __init__(self, outputs: Path) -> None:
        command = [sys.executable, "-m", "bythebook", "explore", RESULT, "--no-browser"]
        self.process = subprocess.Popen(
            [*command, "--outputs", str(outputs), "--timeout", "500"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        assert "Ctrl-C stops" in self.process.stdout.readline()
        self.address = urlsplit(self.process.stdout.readline().strip())
        self.token = self.address.query.removeprefix("token=")
        self.busy: socket.socket | None = None

    def begin_a_slow_run(self) -> None:
        """Send the request for a run without waiting for its response."""
        body = json.dumps({"tab": "t", "result": RESULT, "values": SLOW}).encode()
        host, port = str(self.address.hostname), int(self.address.port or 0)
        lines = [
            "POST /run HTTP/1.1",
            f"Host: {host}:{port}",
            f"Origin: http://{host}:{port}",
            f"Cookie: bythebook-{port}={self.token}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        ]
        self.busy = socket.create_connection((host, port))
        self.busy.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        deadline = time.monotonic() + PATIENCE
        while len(self.others()) < 2 and time.monotonic() < deadline:  # forkserver and worker
            time.sleep(0.1)
        time.sleep(1)

    def others(self) -> list[int]:
        """The other processes of the session of the server."""
        pids = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                session = int((folder / "stat").read_text().rpartition(")")[2].split()[3])
            except (OSError, IndexError):
                continue
            if session == self.process.pid and int(folder.name) != self.process.pid:
                pids.append(int(folder.name))
        return pids

    def all_ended(self) -> bool:
        deadline = time.monotonic() + PATIENCE
        while self.others() and time.monotonic() < deadline:
            time.sleep(0.1)
        return not self.others()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    started = Server(tmp_path / "outputs")
    yield started
    if started.busy is not None:
        started.busy.close()
    for pid in [started.process.pid, *started.others()]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    started.process.communicate()


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")


@linux
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_all_processes_end_during_a_run(server: Server, number: signal.Signals) -> None:
    server.begin_a_slow_run()
    assert len(server.others()) >= 2
    os.kill(server.process.pid, number)
    out, err = server.process.communicate(timeout=PATIENCE)
    assert server.process.returncode == (-number if number == signal.SIGKILL else 0)
    if number != signal.SIGKILL:  # after SIGKILL, Python's resource tracker reports what it removes
        assert (out, err) == ("", "")
    assert server.all_ended()


def test_only_the_printed_address_gives_access(server: Server) -> None:
    address = server.address.geturl()
    with urllib.request.urlopen(address, timeout=PATIENCE) as response:
        assert response.status == 200
        assert "HttpOnly; SameSite=Strict" in response.headers["set-cookie"]
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(address.partition("?")[0], timeout=PATIENCE)
