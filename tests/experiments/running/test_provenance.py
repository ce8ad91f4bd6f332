"""Where and with what a run was made; no password among it."""

import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from experiments.contract.exact_json import dumps, loads
from experiments.running import provenance
from experiments.running.provenance import environment


@pytest.fixture(autouse=True)
def own_facts() -> Iterator[None]:
    environment.cache_clear()
    yield
    environment.cache_clear()


def test_versions_and_machine_are_those_of_this_process() -> None:
    facts = environment()
    assert facts["python"] == ".".join(map(str, sys.version_info[:3]))
    assert facts["packages"]["numpy"] == version("numpy")
    assert set(facts["packages"]) <= set(provenance.PACKAGES)
    assert loads(dumps(facts)) == facts  # it is written with every record


def test_the_commit_is_gits_own() -> None:
    root = Path(provenance.__file__).parents[3]
    head = subprocess.run(
        ["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    assert environment()["git"]["commit"] == (head.stdout.strip() or None)


def test_a_checkout_is_dirty_with_any_file_that_is_not_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str) -> None:
        me = ["-c", "user.name=me", "-c", "user.email=me@host"]
        subprocess.run(["git", *me, "-C", str(tmp_path), *words], check=True, capture_output=True)

    def facts() -> dict[str, object]:
        environment.cache_clear()
        return dict(environment()["git"])

    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "config.yaml").touch()
    git("init")
    assert facts() == {"commit": None, "dirty": True}
    git("add", ".")
    git("commit", "-m", "all")
    assert facts()["dirty"] is False
    assert len(str(facts()["commit"])) == 40
    (tmp_path / "other").touch()
    assert facts()["dirty"] is True


def test_a_wheel_and_a_machine_without_git_have_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    assert environment()["git"] == {"commit": None, "dirty": None}
    monkeypatch.undo()
    environment.cache_clear()
    monkeypatch.setenv("PATH", "")
    assert environment()["git"] == {"commit": None, "dirty": None}


def test_a_command_is_kept_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = ["bythebook", "run", "tracking.uri=http://me:secret@host"]
    monkeypatch.setattr(sys, "argv", typed)
    assert environment()["command"] == "bythebook run tracking.uri=http://***@host"


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["/x/ipykernel_launcher.py", "-f", "/home/me/kernel-1.json"], "a notebook"),
        (["/home/me/sweeps.py", "--secret"], "python sweeps.py"),
        (["/x/experiments/__main__.py", "list"], "bythebook list"),
        ([""], "bythebook"),
    ],
)
def test_a_program_that_calls_us_is_named_without_its_arguments_and_folder(
    argv: list[str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", argv)
    assert environment()["command"] == told


def test_a_user_without_a_name_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert environment()["user"] == "unknown"
