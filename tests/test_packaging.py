"""The wheel holds everything, and works from any directory without the checkout."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bythebook.experiments.config import catalogue

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    ignore = shutil.ignore_patterns(".*", "outputs", "*.egg-info", "build", "__pycache__")
    shutil.copytree(ROOT, source, ignore=ignore)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run(
        [*command, "--wheel-dir", str(folder), str(source)], check=True, capture_output=True
    )
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_code_configurations_data_styles_and_templates(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, installed in (("src", "bythebook"), ("conf", "bythebook/conf")):
        for path in (ROOT / folder).rglob("*"):
            kept = path.is_file() and not {"__pycache__"} & set(path.parts)
            if kept and not any(part.endswith(".egg-info") for part in path.parts):
                name = f"{installed}/{path.relative_to(ROOT / folder).as_posix()}"
                assert name in names, name
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == {"bythebook"}


def test_commands_work_from_the_wheel_in_any_directory(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(site)}
    environment.pop("BYTHEBOOK_OUTPUTS", None)
    for name in ("models", "experiments"):
        command = [sys.executable, "-c", f"import {name}"]
        done = subprocess.run(
            command, cwd=elsewhere, env=environment, capture_output=True, check=False
        )
        assert b"ModuleNotFoundError" in done.stderr, name

    def bythebook(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "bythebook", *arguments],
            cwd=elsewhere,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    listed = json.loads(bythebook("list", "--json"))
    assert [entry["id"] for entry in listed] == catalogue.experiment_names()
    bythebook("run", "experiment=fcml/fig-1.15", "tracking=off")
    bythebook("run", "-m", "experiment=fcml/fig-1.15", "seed=0,1", "tracking=off", "jobs=2")
    found = list((elsewhere / "outputs").glob("runs/fcml/fig-1.15/*/run.json"))
    assert len(found) == 1
    record = json.loads(found[0].read_text())
    assert record["provenance"]["git"] == {"commit": None, "dirty": None}
