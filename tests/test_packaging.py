"""The wheel holds everything, and works from any directory without the checkout."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from experiments.configuration import catalogue

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


def test_the_wheel_holds_configurations_data_styles_and_templates(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for experiment in catalogue.names():
        assert f"experiments/conf/experiment/{experiment}.yaml" in names
    for folder in (
        "src/models/data",
        "src/experiments/drawing/styles",
        "src/experiments/report/templates",
    ):
        for path in (ROOT / folder).iterdir():
            assert path.relative_to(ROOT / "src").as_posix() in names
    assert "experiments/conf/config.yaml" in names
    for folder in ("experiments", "models"):
        for path in (ROOT / "src" / folder).glob("**/*.py"):
            assert path.relative_to(ROOT / "src").as_posix() in names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/"))]


def test_commands_work_from_the_wheel_in_any_directory(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(site)}
    environment.pop("BYTHEBOOK_OUTPUTS", None)

    def bythebook(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "experiments", *arguments],
            cwd=elsewhere,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    listed = json.loads(bythebook("list", "--json"))
    assert [entry["id"] for entry in listed] == catalogue.names()
    bythebook("run", "experiment=fcml/fig-1.15", "tracking=off")
    bythebook("run", "-m", "experiment=fcml/fig-1.15", "seed=0,1", "tracking=off", "jobs=2")
    found = list((elsewhere / "outputs").glob("runs/fcml/fig-1.15/*/run.json"))
    assert len(found) == 1
    record = json.loads(found[0].read_text())
    assert record["provenance"]["git"] == {"commit": None, "dirty": None}
