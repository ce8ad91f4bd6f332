"""Imports point one way, and the command line starts without the heavy libraries."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SRC = TESTS.parent / "src"
MODULES = {
    ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(SRC.glob("**/*.py"))
}
# What each room may import beside itself; everything may import `contract` and `models`.
ROOMS = {
    "contract": set(),
    "studies": set(),
    "drawing": set(),
    "figures": {"drawing", "studies"},
    "configuration": set(),
    "records": {"configuration", "drawing"},
    "running": {"configuration", "records"},
    "tracking": {"configuration", "records", "running"},
    "sweeping": {"configuration", "drawing", "records", "running", "tracking"},
    "report": {"configuration", "drawing", "records", "running", "sweeping", "tracking"},
}
ROOMS["explore"] = {"configuration", "drawing", "records", "report", "running"}
ROOMS["commands"] = set(ROOMS) - {"studies", "figures"}
ROOMS["interface"] = {*ROOMS["commands"], "commands"}  # Python's door, as the terminal is another
OUTSIDE = {"hydra": "configuration", "omegaconf": "configuration", "mlflow": "tracking"}
ALSO = {  # the server's own process, and Hydra's words on the command line
    "experiments.commands.run": {"hydra", "omegaconf"},
    "experiments.commands.server": {"mlflow"},
    "experiments.commands.ui": {"mlflow"},
    "experiments.sweeping.expand": {"hydra"},
}

UNTESTED = {"experiments.commands.codes", "models.types"}  # names of constants and of types
WHOLE = {"experiments/test_experiments.py", "experiments/test_faults.py"}  # of the whole pipeline


def imported(path: Path) -> set[str]:
    """Every import of a module, lazy ones and those for the type checker included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            inner = {f"{module}.{alias.name}" for alias in node.names} & MODULES.keys()
            found |= inner or {module}
    return found


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("models")])
def test_models_know_numbers_only(name: str) -> None:
    allowed = set(sys.stdlib_module_names) | {"models", "numpy", "scipy", "numba"}
    assert {other.split(".")[0] for other in imported(MODULES[name])} <= allowed


@pytest.mark.parametrize("name", [name for name in MODULES if name.count(".") >= 2])
def test_imports_point_one_way(name: str) -> None:
    package, room, *_ = name.split(".")
    if package != "experiments":
        return
    for other in imported(MODULES[name]):
        there = other.split(".")
        if there[0] == "experiments" and len(there) > 1 and there[1] in ROOMS:
            assert there[1] in {room, "contract"} | ROOMS[room], other
        owner = OUTSIDE.get(there[0])
        assert owner in (None, room) or there[0] in ALSO.get(name, ()), other


@pytest.mark.parametrize("name", [n for n in MODULES if n.startswith("experiments.studies.")])
def test_studies_neither_draw_nor_judge_nor_know_other_topics(name: str) -> None:
    topic = ".".join(name.split(".")[:3])
    for other in imported(MODULES[name]):
        assert other.split(".")[0] not in ("matplotlib", "pandas", "PIL"), other
        assert not other.startswith(("experiments.contract.claims", "experiments.contract.express"))
        own = other.startswith((topic, "experiments.studies._"))  # or what topics share
        assert not other.startswith("experiments.studies.") or own, other


def test_nothing_but_its_figure_knows_a_study_by_name() -> None:
    for name, path in MODULES.items():
        for other in imported(path):
            if other.startswith(("experiments.studies.", "experiments.figures.")):
                assert name.startswith(("experiments.studies.", "experiments.figures.")), name


def test_only_the_package_itself_knows_the_python_interface() -> None:
    for name, path in MODULES.items():
        if name != "experiments" and not name.startswith("experiments.interface"):
            assert not {o for o in imported(path) if o.startswith("experiments.interface")}, name


def test_the_package_is_imported_without_what_its_names_need() -> None:
    code = "import sys, experiments; print(sorted({m.partition('.')[0] for m in sys.modules}))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"hydra", "matplotlib", "mlflow", "numpy", "pandas", "rich", "scipy", "yaml"}
    assert not heavy & set(ast.literal_eval(told.stdout))


def test_no_module_needs_itself() -> None:
    """No circle of imports, however lazy."""
    graph = {name: imported(path) & MODULES.keys() - {name} for name, path in MODULES.items()}
    while graph:
        free = {name for name, needs in graph.items() if not needs & graph.keys()}
        assert free, f"these import each other: {sorted(graph)}"
        graph = {name: needs for name, needs in graph.items() if name not in free}


@pytest.mark.parametrize("kind", ["studies", "figures"])
def test_every_study_has_its_figure_beside_it(kind: str) -> None:
    from experiments.contract.places import places

    folder = SRC / "experiments" / kind
    found = {
        f"{path.parent.name}.{path.stem}"
        for path in folder.glob("*/*.py")
        if not path.stem.startswith("_")
    }
    known = {f"{topic}.{name}" for name, topic in places().items() if topic != "faults"}
    assert found == known


def test_the_tests_are_the_same_tree() -> None:
    """A module's tests lie at its own path; figures are drawn where all results are tried."""
    apart = ("experiments.figures", "experiments.studies")
    wanted = {
        path.relative_to(SRC).with_name(f"test_{path.name}").as_posix(): name
        for name, path in MODULES.items()
        if not path.stem.startswith("__") and not name.startswith(apart)
    }
    found = {
        path.relative_to(TESTS).as_posix()
        for package in ("experiments", "models")
        for path in (TESTS / package).glob("**/test_*.py")
        if "studies" not in path.parts
    }
    assert {name for path, name in wanted.items() if path not in found} == UNTESTED
    assert found - wanted.keys() == WHOLE


@pytest.mark.parametrize(
    ("command", "absent"),
    [
        (["list"], {"mlflow", "matplotlib", "pandas", "hydra", "numpy", "scipy"}),
        (["show", "fcml/fig-1.15"], {"mlflow", "matplotlib", "pandas", "numba", "hydra", "scipy"}),
        (["complete", "bythebook run experiment="], {"mlflow", "matplotlib", "hydra", "numpy"}),
        (
            ["run", "study=polynomial_order", "figures=false", "tracking=off"],
            {"mlflow", "matplotlib", "pandas", "numba", "scipy"},
        ),
        (
            ["run", "fcml/fig-1.15", "fresh=true"],  # tracked, judged and drawn
            {"mlflow", "hydra", "pandas", "numba", "scipy", "matplotlib.backends.backend_pdf"},
        ),
    ],
)
def test_a_command_loads_only_what_it_needs(
    command: list[str], absent: set[str], tmp_path: Path, empty_store: Path
) -> None:
    shutil.copyfile(empty_store, tmp_path / "mlflow.db")  # making one takes MLflow
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
