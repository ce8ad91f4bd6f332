"""Processes that start within `safe_path` import nothing from the current folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bythebook.experiments.core.safe_path import safe_path


@pytest.mark.parametrize("start", [["-c", "import trap"], ["-m", "trap"]])
def test_a_process_does_not_import_from_its_folder(tmp_path: Path, start: list[str]) -> None:
    (tmp_path / "trap.py").write_text("print('imported')")

    def output() -> str:
        done = subprocess.run(
            [sys.executable, *start], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        return done.stdout

    assert output() == "imported\n"
    with safe_path():
        assert output() == ""
    assert output() == "imported\n"


def test_the_path_of_children_lacks_the_current_folder_and_is_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = ["", str(tmp_path), str(tmp_path.parent), "/no/such/folder"]
    monkeypatch.setattr(sys, "path", path)
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    with safe_path():
        assert sys.path == path[2:]
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert sys.path is path
    assert os.environ["PYTHONSAFEPATH"] == ""
