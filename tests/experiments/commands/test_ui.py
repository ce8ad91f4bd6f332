"""`bythebook ui`: the page it opens, and the server that goes with it.

tests/browser looks at the pages.
"""

import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from experiments.cli import main
from experiments.commands import ui
from experiments.contract.errors import BadInput
from experiments.tracking.local import LocalTracker
from experiments.tracking.runs import Payload

Capture = pytest.CaptureFixture[str]


class Server:
    """One that answers until somebody presses Ctrl-C."""

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
    """The command up to the server's start, which is only pretended."""
    server = Server()
    monkeypatch.setattr(ui.signal, "signal", lambda *_: None)
    monkeypatch.setattr(ui, "check_port", lambda *_: None)  # somebody may be using it
    monkeypatch.setattr(ui, "_start", lambda *_: server)
    monkeypatch.setattr(ui, "_answers", lambda _: True)
    return server


def test_a_study_opens_on_its_runs_without_the_cells_of_sweeps(
    tracked: LocalTracker, started: Server, capsys: Capture
) -> None:
    tracked.put([Payload("record-1", "ridge_path", "a run", "FINISHED", 1, 2)])
    assert main(["ui", "ridge_path", "--no-browser"]) == 0
    address = urlsplit(capsys.readouterr().out.splitlines()[0])
    page, _, query = address.fragment.partition("?")
    assert (address.netloc, page) == ("127.0.0.1:5000", "/experiments/1/runs")
    asked = {"workflowType": ["machine_learning"], "searchFilter": ["tags.kind != 'cell'"]}
    assert parse_qs(query) == asked
    assert started.ended == 1


def test_a_browser_is_opened_unless_told_otherwise(
    started: Server, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert main(["ui", "--no-browser"]) == 0
    assert opened == []
    assert main(["ui"]) == 0
    assert opened == [capsys.readouterr().out.splitlines()[0]]


@pytest.mark.usefixtures("started")
def test_a_server_that_stops_is_told(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
        monkeypatch.setattr(ui, "_start", lambda *_: ended)
        monkeypatch.setattr(ui, "_answers", lambda _: False)
        assert main(["ui"]) == 1
    assert "the MLflow server stopped" in capsys.readouterr().err


def test_a_study_without_runs_is_refused(tracked: LocalTracker) -> None:
    tracked.put([Payload("record-1", "ridge_path", "a run", "FINISHED", 1, 2)])
    with pytest.raises(BadInput, match=r"no runs of 'coin_game' are tracked; .*ridge_path"):
        ui._view(tracked.database, "coin_game")
    with pytest.raises(BadInput, match="there are: none yet"):
        ui._view(Path("/nowhere/mlflow.db"), "coin_game")


@pytest.mark.parametrize(
    ("host", "more"),
    [
        ("127.0.0.1", []),
        ("192.0.2.7", ["192.0.2.7:4711"]),
        ("0.0.0.0", ["this-machine:4711"]),
    ],
)
def test_the_server_answers_to_loopback_names_unless_told_otherwise(
    tracked: LocalTracker, monkeypatch: pytest.MonkeyPatch, host: str, more: list[str]
) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr("subprocess.Popen", lambda command, **_: commands.append(command))
    monkeypatch.setattr("socket.gethostname", lambda: "this-machine")
    ui._start(tracked, tracked.database.parent, host, 4711)
    ((*_, names),) = commands
    assert names.split(",") == ["localhost:4711", "127.0.0.1:4711", "[::1]:4711", *more]


def test_nobody_answers_where_nobody_listens() -> None:
    assert not ui._answers("http://127.0.0.1:9/health")
