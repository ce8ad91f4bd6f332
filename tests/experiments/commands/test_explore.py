"""`bythebook explore`: what it opens, what it refuses, and that a kept run is a run."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.cli import main
from experiments.commands import explore
from experiments.configuration.build import experiment_job
from experiments.explore import values
from experiments.explore.app import Site
from experiments.explore.trials import template
from experiments.records.store import RunStore
from experiments.tracking.local import LocalTracker

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def served(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> list[Site]:
    """The command up to the server, which is only pretended."""
    found: list[Site] = []

    def serve(site: Site, made: socket.socket, ready: Callable[[str, str], None]) -> None:
        found.append(site)
        made.close()
        ready("http://127.0.0.1:99", "abc")
        raise KeyboardInterrupt

    monkeypatch.setattr(explore, "serve", serve)
    monkeypatch.setattr(explore.signal, "signal", lambda *_: None)
    return found


def test_one_result_opens_on_its_page_and_several_on_the_list(
    served: list[Site], capsys: Capture
) -> None:
    assert main(["explore", "fcml/fig-1.15", "--no-browser"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "http://127.0.0.1:99/result/fcml/fig-1.15?token=abc"
    assert main(["explore", "fcml/1", "--no-browser", "--seconds", "5", "--memory-gb", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "http://127.0.0.1:99/?token=abc"
    assert (served[1].seconds, served[1].memory_gb) == (5, 1)
    assert "fcml/fig-1.15" in served[1].names


def test_a_browser_is_opened_unless_told_otherwise(
    served: list[Site], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert main(["explore", "--no-browser"]) == 0
    assert opened == []
    assert main(["explore"]) == 0
    assert opened == [capsys.readouterr().out.splitlines()[-1]]
    assert served[0].seconds == 30


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--host", "0.0.0.0"], "--host 0.0.0.0 is not allowed; allowed: 127.0.0.1"),
        (["--seconds", "0"], "--seconds 0 is not allowed"),
        (["--memory-gb", "-1"], "--memory-gb -1 is not allowed"),
        (["--tracking", "nowhere"], "--tracking nowhere is not allowed; allowed: local"),
        (["fcml/fig-99"], "'fcml/fig-99' selects nothing"),
        (["verdict:differs"], "the selection holds no result"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    refused: Callable[..., str], words: list[str], line: str
) -> None:
    assert refused("explore", *words).startswith(line)


@pytest.mark.parametrize("texts", [{}, {"study.orders": "[1, 2, 3]", "seed": "2"}])
def test_a_kept_run_is_the_run_of_the_command_line(
    tracked: LocalTracker, outputs: Path, capsys: Capture, texts: dict[str, str]
) -> None:
    job = values.job(template("fcml/fig-1.15", None), texts)
    kept = explore.keep(outputs, "local", None, {"seconds": 30.0, "memory_gb": 2.0}, job)
    assert kept["computed"]
    assert kept["failed"] is None
    assert kept["told"] == []
    record = RunStore(outputs).find(kept["id"])
    assert record["canonical"] == (not texts)
    assert (record.folder / "figures").is_dir()
    assert kept["id"] in tracked.logged()
    words = values.command(job, experiment_job("fcml/fig-1.15")).replace("'", "").split()[2:]
    assert main(["run", *words]) == 0
    told = capsys.readouterr().out
    assert "already recorded" in told
    assert kept["id"] in told
    again: dict[str, Any] = explore.keep(outputs, "off", None, {}, job)
    assert (again["id"], again["computed"]) == (kept["id"], False)
