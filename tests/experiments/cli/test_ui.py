"""`bythebook ui`: the opened page, and the server. `tests/browser` tests the pages."""

import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from bythebook.experiments.cli import ui
from bythebook.experiments.cli.main import main
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.tracking.local import LocalTracker
from bythebook.experiments.tracking.payload import Payload

Capture = pytest.CaptureFixture[str]


class Server:
    """A replacement of the server process, whose `wait` raises `KeyboardInterrupt` once."""

    def __init__(self) -> None:
        self.ended = 0

    def poll(self) -> None:
        return None

    def wait(self) -> None:
        if not self.ended:
            raise KeyboardInterrupt

    def terminate(self) -> None:
        self.ended += 1


@pytest.fixture
def started(tracked: LocalTracker, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Replace the start of the server."""
    server = Server()
    monkeypatch.setattr(ui.signal, "signal", lambda *_: None)
    monkeypatch.setattr(ui, "check_port", lambda *_: None)  # the port may be in use
    monkeypatch.setattr(ui, "_start", lambda *_: server)
    monkeypatch.setattr(ui, "_is_up", lambda _: True)
    return server


def test_the_page_of_a_study_lists_its_runs_without_the_cells_of_sweeps(
    tracked: LocalTracker, started: Server, capsys: Capture
) -> None:
    tracked.log_runs([Payload("record-1", "ridge_path", "a run", "FINISHED", 1, 2)])
    assert main(["ui", "ridge_path", "--no-browser"]) == 0
    address = urlsplit(capsys.readouterr().out.splitlines()[0])
    page, _, query = address.fragment.partition("?")
    assert (address.netloc, page) == ("127.0.0.1:5000", "/experiments/1/runs")
    expected = {"workflowType": ["machine_learning"], "searchFilter": ["tags.kind != 'cell'"]}
    assert parse_qs(query) == expected
    assert started.ended == 1


def test_a_browser_is_opened_unless_no_browser_is_set(
    started: Server, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert main(["ui", "--no-browser"]) == 0
    assert opened == []
    assert main(["ui"]) == 0
    assert opened == [capsys.readouterr().out.splitlines()[0]]


@pytest.mark.usefixtures("started")
def test_a_server_that_stops_is_reported(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
        monkeypatch.setattr(ui, "_start", lambda *_: ended)
        monkeypatch.setattr(ui, "_is_up", lambda _: False)
        assert main(["ui"]) == 1
    assert "the MLflow server stopped" in capsys.readouterr().err


def test_a_study_without_runs_is_rejected(tracked: LocalTracker) -> None:
    tracked.log_runs([Payload("record-1", "ridge_path", "a run", "FINISHED", 1, 2)])
    with pytest.raises(InputError, match=r"no logged runs of 'coin_game'; allowed: .*ridge_path"):
        ui._start_url(tracked.database, "coin_game")
    with pytest.raises(InputError, match="allowed: none, no run is logged"):
        ui._start_url(Path("/nowhere/mlflow.db"), "coin_game")


@pytest.mark.parametrize(
    ("host", "more"),
    [
        ("127.0.0.1", []),
        ("192.0.2.7", ["192.0.2.7:4711"]),
        ("0.0.0.0", ["this-machine:4711"]),
    ],
)
def test_the_host_names_are_loopback_and_those_of_the_host_option(
    tracked: LocalTracker, monkeypatch: pytest.MonkeyPatch, host: str, more: list[str]
) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr("subprocess.Popen", lambda command, **_: commands.append(command))
    monkeypatch.setattr("socket.gethostname", lambda: "this-machine")
    ui._start(tracked, tracked.database.parent, host, 4711)
    ((*_, names),) = commands
    assert names.split(",") == ["localhost:4711", "127.0.0.1:4711", "[::1]:4711", *more]


def test_an_address_without_a_server_is_not_up() -> None:
    assert not ui._is_up("http://127.0.0.1:9/health")
