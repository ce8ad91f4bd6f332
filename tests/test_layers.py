"""Imports point one way, and the command line starts without the heavy libraries."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"
MODELS = sorted((SRC / "models").glob("**/*.py"))
STUDIES = sorted((SRC / "experiments" / "studies").glob("*/*.py"))


def imported(path: Path, *, at_top: bool = False) -> set[str]:
    tree = ast.parse(path.read_text())
    nodes = tree.body if at_top else list(ast.walk(tree))
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_models_know_numbers_only(path: Path) -> None:
    allowed = set(sys.stdlib_module_names) | {"models", "numpy", "scipy", "numba"}
    assert {name.split(".")[0] for name in imported(path)} <= allowed


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_studies_know_models_and_the_study_interface_only(path: Path) -> None:
    ours = {name for name in imported(path) if name.startswith("experiments")}
    allowed = ("experiments.contract.study", "experiments.studies", "experiments.drawing")
    pure = (
        "experiments.contract.claims",
        "experiments.contract.errors",
        "experiments.contract.outcome",
    )
    assert all(name.startswith((*allowed, *pure)) for name in ours), ours
    assert not {name.split(".")[0] for name in imported(path)} & {"hydra", "omegaconf", "mlflow"}


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_studies_load_no_drawing_library_until_they_draw(path: Path) -> None:
    top = imported(path, at_top=True)
    assert not {name.split(".")[0] for name in top} & {"matplotlib", "pandas", "numba"}
    assert "experiments.drawing.canvas" not in top


@pytest.mark.parametrize(
    ("command", "absent"),
    [
        (["list"], {"mlflow", "matplotlib", "pandas", "hydra", "numpy", "scipy"}),
        (["show", "fcml/fig-1.15"], {"mlflow", "matplotlib", "pandas", "numba"}),
        (["complete", "bythebook run experiment="], {"mlflow", "matplotlib", "hydra", "numpy"}),
        (
            ["run", "study=polynomial_order", "figures=false", "tracking=off"],
            {"mlflow", "matplotlib", "pandas", "numba"},
        ),
    ],
)
def test_a_command_loads_only_what_it_needs(
    command: list[str], absent: set[str], tmp_path: Path
) -> None:
    code = (
        "import sys; from experiments.cli import main;"
        f"assert main({command!r}) == 0;"
        f"print('LOADED', sorted({absent!r} & set(sys.modules)))"
    )
    environment = {"BYTHEBOOK_OUTPUTS": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "LOADED []"
