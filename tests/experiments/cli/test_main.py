"""The command line: invalid input gives one line and no files."""

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main

Capture = pytest.CaptureFixture[str]

COMMANDS = {
    "": "missing command; allowed: list, show, equations, run",
    "rnu": "there is no command 'rnu' (did you mean 'run'?); allowed: list, show, equations, run",
    "--hlep": "unknown argument '--hlep' (did you mean '--help'?)",
    "list --josn": "unknown argument '--josn' (did you mean '--json'?); usage: bythebook list",
    "show a b": "unknown argument 'b'; usage: bythebook show [-h] [--json]",
    "show": "the following arguments are required: name; usage: bythebook show",
    "show fcml/fig-1.51": "there is no result 'fcml/fig-1.51' (did you mean 'fcml/fig-1.5'?)",
    "show study:ridge_pth": "there is no study 'ridge_pth' (did you mean 'ridge_path'?)",
    "reproduce --jobs x": "--jobs x is not allowed; allowed: int",
    "ui --port 80a": "--port 80a is not allowed; allowed: int",
    "completion fish": "there is no shell 'fish'; allowed: bash, zsh",
}


@pytest.mark.parametrize("typed", COMMANDS)
def test_the_message_for_an_invalid_command(
    typed: str, outputs: Path, refused: Callable[..., str]
) -> None:
    assert refused(*typed.split()).startswith(COMMANDS[typed])
    assert not list(outputs.iterdir())


@pytest.mark.parametrize(
    "arguments",
    [
        ["reproduce", "fcml/fig-0.0"],
        ["reproduce", "--jobs", "0"],
        ["reproduce", "--tracking", "cloud"],
        ["figures", "--format", "gif"],
        ["figures", "sweep:none"],
        ["ui", "no_such_study"],
        ["sync", "--tracking", "server", "--tracking-uri", "nonsense"],
        ["reproduce", "fcml/fig-1.15", "--tracking", "server", "--tracking-uri", "nonsense"],
        ["figures", "--style", "neon"],
        ["tables", "--format", "docx"],
        ["show", "fcml/fig-1.51"],
        ["show", "study:none"],
        ["verify", "../x"],
        ["verify", "abcdef"],
        ["ui", "--port", "0"],
        ["ui", "--host", "256.0.0.1"],
    ],
)
def test_every_command_rejects_invalid_input_in_one_line(
    arguments: list[str], outputs: Path, refused: Callable[..., str]
) -> None:
    assert refused(*arguments)
    assert not list(outputs.iterdir())


@pytest.mark.parametrize(
    "command", ["list", "show fcml/fig-1.1", "figures", "tables", "report", "sync"]
)
def test_a_missing_outputs_folder_is_rejected(
    command: str, tmp_path: Path, refused: Callable[..., str]
) -> None:
    missing = tmp_path / "missing"
    line = refused(*command.split(), "--outputs", str(missing))
    assert line == f"--outputs {missing}: there is no such folder"
    assert not missing.exists()
    assert refused(*command.split(), "--outputs", "").startswith("--outputs has an empty value")


def test_a_corrupt_data_file_is_named(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    from bythebook.models import datasets

    copy = tmp_path / "olympics-100m-women.csv"
    copy.write_text((datasets._HERE / copy.name).read_text().replace("12.2", "12.3"))
    monkeypatch.setattr(datasets, "_HERE", tmp_path)
    datasets._load.cache_clear()
    try:
        line = refused("run", "study=polynomial_order", "study.data=olympics-100m-women")
    finally:
        datasets._load.cache_clear()
    assert "is damaged or not the right one" in line


@pytest.mark.parametrize(
    ("raised", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "bythebook: interrupted; completed runs are recorded"),
        (
            OSError(28, "No space left on device", "/a/b"),
            2,
            "bythebook: could not read or write /a/b",
        ),
    ],
)
def test_the_exit_code_shows_what_stopped_a_command(
    raised: BaseException,
    code: int,
    line: str,
    outputs: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    def stop(_: object) -> int:
        raise raised

    monkeypatch.setattr("bythebook.experiments.cli.list.main", stop)
    assert main(["list"]) == code
    assert capsys.readouterr().err.startswith(line)


def test_a_closed_pipe_is_not_an_error(outputs: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as broken:
        done = subprocess.run(
            [sys.executable, "-m", "bythebook", "list", "--json"],
            stdout=broken,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_version_is_that_of_the_package(capsys: Capture) -> None:
    from importlib.metadata import version

    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"bythebook {version('bythebook')}\n"


def test_garbage_collection_is_frozen_at_the_end_of_the_process_only(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    frozen: list[bool] = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(True))
    monkeypatch.setattr(sys, "argv", ["bythebook", "complete", "bythebook sho"])
    assert main(["complete", "bythebook sho"]) == 0
    assert not frozen
    assert main() == 0
    assert frozen == [True]
    assert capsys.readouterr().out == "show\nshow\n"
