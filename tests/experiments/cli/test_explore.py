"""`bythebook explore`: the opened page, rejected options, saved runs."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.cli import explore
from bythebook.experiments.cli.main import main
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.explore import values
from bythebook.experiments.explore.app import ExploreConfig
from bythebook.experiments.explore.runs import job_factory
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.tracking.local import LocalTracker

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def served(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> list[ExploreConfig]:
    """The configurations of a replacement of the server, which ends at once."""
    configs: list[ExploreConfig] = []

    def serve(
        config: ExploreConfig, bound: socket.socket, ready: Callable[[str, str], None]
    ) -> None:
        configs.append(config)
        bound.close()
        ready("http://127.0.0.1:99", "abc")
        raise KeyboardInterrupt

    monkeypatch.setattr(explore, "serve", serve)
    monkeypatch.setattr(explore.signal, "signal", lambda *_: None)
    return configs


def test_one_result_opens_on_its_page_and_several_on_the_list(
    served: list[ExploreConfig], capsys: Capture
) -> None:
    assert main(["explore", "fcml/fig-1.15", "--no-browser"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "http://127.0.0.1:99/result/fcml/fig-1.15?token=abc"
    assert main(["explore", "fcml/1", "--no-browser", "--timeout", "5", "--memory-gb", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "http://127.0.0.1:99/?token=abc"
    assert (served[1].timeout, served[1].memory_gb) == (5, 1)
    assert "fcml/fig-1.15" in served[1].names


def test_a_browser_is_opened_unless_no_browser_is_set(
    served: list[ExploreConfig], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert main(["explore", "--no-browser"]) == 0
    assert opened == []
    assert main(["explore"]) == 0
    assert opened == [capsys.readouterr().out.splitlines()[-1]]
    assert served[0].timeout == 30


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--host", "0.0.0.0"], "--host 0.0.0.0 is not allowed; allowed: 127.0.0.1"),
        (["--timeout", "0"], "--timeout 0 is not allowed"),
        (["--memory-gb", "-1"], "--memory-gb -1 is not allowed"),
        (["--tracking", "nowhere"], "--tracking nowhere is not allowed; allowed: local"),
        (["fcml/fig-99"], "'fcml/fig-99' matches no result"),
        (["verdict:differs"], "the selection contains no results"),
    ],
)
def test_invalid_options_are_rejected_in_one_line(
    refused: Callable[..., str], words: list[str], line: str
) -> None:
    assert refused("explore", *words).startswith(line)


@pytest.mark.parametrize("texts", [{}, {"study.orders": "[1, 2, 3]", "seed": "2"}])
def test_a_saved_run_is_the_run_of_the_command_line(
    tracked: LocalTracker, outputs: Path, capsys: Capture, texts: dict[str, str]
) -> None:
    job = values.job(job_factory("fcml/fig-1.15", None), texts)
    saved = explore.save(outputs, "local", None, {"timeout": 30.0, "memory_gb": 2.0}, job)
    assert saved["computed"]
    assert saved["failed"] is None
    assert saved["messages"] == []
    record = RunStore(outputs).find(saved["id"])
    assert record["canonical"] == (not texts)
    assert (record.folder / "figures").is_dir()
    assert saved["id"] in tracked.logged_ids()
    words = values.command_line(job, load_job("fcml/fig-1.15")).replace("'", "").split()[2:]
    assert main(["run", *words]) == 0
    output = capsys.readouterr().out
    assert "already recorded" in output
    assert saved["id"] in output
    again: dict[str, Any] = explore.save(outputs, "off", None, {}, job)
    assert (again["id"], again["computed"]) == (saved["id"], False)
