"""Provenance of a run: versions, machine, commit, and a command line without passwords."""

import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from bythebook.experiments.core.exact_json import dumps, loads
from bythebook.experiments.execution import provenance
from bythebook.experiments.execution.provenance import collect_environment


@pytest.fixture(autouse=True)
def fresh_environment() -> Iterator[None]:
    collect_environment.cache_clear()
    yield
    collect_environment.cache_clear()


def test_versions_are_those_of_this_process() -> None:
    environment = collect_environment()
    assert environment["python"] == ".".join(map(str, sys.version_info[:3]))
    assert environment["packages"]["numpy"] == version("numpy")
    assert set(environment["packages"]) <= set(provenance.PACKAGES)
    assert loads(dumps(environment)) == environment  # every record contains it


def test_the_commit_is_that_of_git() -> None:
    root = Path(provenance.__file__).parents[3]
    head = subprocess.run(
        ["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    assert collect_environment()["git"]["commit"] == (head.stdout.strip() or None)


def test_a_checkout_with_uncommitted_files_is_dirty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str) -> None:
        author = ["-c", "user.name=a", "-c", "user.email=a@host"]
        subprocess.run(
            ["git", *author, "-C", str(tmp_path), *words], check=True, capture_output=True
        )

    def status() -> dict[str, object]:
        collect_environment.cache_clear()
        return dict(collect_environment()["git"])

    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "config.yaml").touch()
    git("init")
    assert status() == {"commit": None, "dirty": True}
    git("add", ".")
    git("commit", "-m", "all")
    assert status()["dirty"] is False
    assert len(str(status()["commit"])) == 40
    (tmp_path / "other").touch()
    assert status()["dirty"] is True


def test_a_wheel_and_a_machine_without_git_have_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    assert collect_environment()["git"] == {"commit": None, "dirty": None}
    monkeypatch.undo()
    collect_environment.cache_clear()
    monkeypatch.setenv("PATH", "")
    assert collect_environment()["git"] == {"commit": None, "dirty": None}


def test_a_command_is_recorded_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = ["bythebook", "run", "tracking_uri=http://me:secret@host"]
    monkeypatch.setattr(sys, "argv", typed)
    assert collect_environment()["command"] == "bythebook run tracking_uri=http://***@host"


@pytest.mark.parametrize(
    ("argv", "command"),
    [
        (["/x/ipykernel_launcher.py", "-f", "/home/me/kernel-1.json"], "a notebook"),
        (["/home/me/sweeps.py", "--secret"], "python sweeps.py"),
        (["/x/experiments/__main__.py", "list"], "bythebook list"),
        ([""], "bythebook"),
    ],
)
def test_a_script_is_named_without_its_arguments_and_folder(
    argv: list[str], command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", argv)
    assert collect_environment()["command"] == command


def test_a_user_without_a_name_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr("getpass.getuser", fail)
    assert collect_environment()["user"] == "unknown"
