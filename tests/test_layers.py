"""Imports point one way, and the command line starts without the heavy libraries."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SRC = TESTS.parent / "src"


def module_name(path: Path) -> str:
    """`src` is installed as `bythebook`: src/models/em.py is `bythebook.models.em`."""
    parts = ("bythebook", *path.relative_to(SRC).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in sorted(SRC.glob("**/*.py"))}
# Each package imports only packages above it, `core` and the models.
PACKAGES = (
    *("core", "studies", "equations", "plotting", "figures", "config", "store", "execution"),
    *("tracking", "sweeps", "report", "api", "explore", "cli"),
)
# A study computes, an equation is evaluated and a figure draws: none of them knows the pipeline,
# and the pipeline finds them by name.
ALLOWED = {"studies": set(), "equations": set(), "plotting": set(), "config": set()}
ALLOWED["figures"] = {"plotting", "studies"}
OWNERS = {"hydra": "config", "omegaconf": "config", "mlflow": "tracking"}
EXCEPTIONS = {  # Hydra's words on the command line, and the MLflow UI's process
    "bythebook.experiments.cli.run": {"hydra", "omegaconf"},
    "bythebook.experiments.cli.ui": {"mlflow"},
    "bythebook.experiments.sweeps.grid": {"hydra"},
}
WITHOUT_TESTS = {  # names of constants and of types
    "bythebook.experiments.cli.exit_codes",
    "bythebook.models.types",
}
OF_ALL_MODULES = {"experiments/test_experiments.py", "experiments/test_faults.py"}


def imported(path: Path) -> set[str]:
    """All imports of a module, lazy ones and those for the type checker included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            inner = {f"{module}.{alias.name}" for alias in node.names} & MODULES.keys()
            found |= inner or {module}
    return found


def package_of(name: str) -> str:
    """`store` of `bythebook.experiments.store.record`; nothing for the models."""
    top, _, rest = name.removeprefix("bythebook.").partition(".")
    return rest.partition(".")[0] if top == "experiments" else ""


def may_import(package: str, other: str) -> bool:
    if other in ("", "core", package):
        return True
    above = PACKAGES[: PACKAGES.index(package)]
    return other in ALLOWED.get(package, set(above) - {"studies", "equations", "figures"})


@pytest.mark.parametrize("name", [n for n in MODULES if n.startswith("bythebook.models")])
def test_models_import_numpy_scipy_and_numba_only(name: str) -> None:
    for other in imported(MODULES[name]):
        top = other.partition(".")[0]
        own = other.startswith("bythebook.models")
        assert own or top in {*sys.stdlib_module_names, "numpy", "scipy", "numba"}, other


@pytest.mark.parametrize("name", [n for n in MODULES if package_of(n)])
def test_packages_import_one_way(name: str) -> None:
    package = package_of(name)
    for other in imported(MODULES[name]):
        if other.startswith("bythebook.experiments."):
            assert may_import(package, package_of(other)), other
        top = other.partition(".")[0]
        owner = OWNERS.get(top)
        assert owner in (None, package) or top in EXCEPTIONS.get(name, ()), other


def test_every_package_has_its_layer() -> None:
    folders = {path.parent.name for path in (SRC / "experiments").glob("*/__init__.py")}
    assert folders == set(PACKAGES)


@pytest.mark.parametrize(
    "name", [n for n in MODULES if n.startswith("bythebook.experiments.studies.")]
)
def test_studies_neither_draw_nor_judge_nor_know_other_topics(name: str) -> None:
    topic = ".".join(name.split(".")[:4])
    for other in imported(MODULES[name]):
        assert other.split(".")[0] not in ("matplotlib", "pandas", "PIL"), other
        judging = ("claims", "express", "judging")
        assert not other.startswith(tuple(f"bythebook.experiments.core.{n}" for n in judging))
        own = other.startswith((topic, "bythebook.experiments.studies._"))  # or what topics share
        assert not other.startswith("bythebook.experiments.studies.") or own, other


def test_nothing_but_its_figure_knows_a_study_by_name() -> None:
    for name, path in MODULES.items():
        for other in imported(path):
            if other.startswith(
                ("bythebook.experiments.studies.", "bythebook.experiments.figures.")
            ):
                assert name.startswith(
                    ("bythebook.experiments.studies.", "bythebook.experiments.figures.")
                ), name


def test_the_package_is_imported_without_what_its_names_need() -> None:
    code = "import sys, bythebook; print(sorted({m.partition('.')[0] for m in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    heavy = {"hydra", "matplotlib", "mlflow", "numpy", "pandas", "rich", "scipy", "yaml"}
    assert not heavy & set(ast.literal_eval(loaded.stdout))


def test_no_modules_import_each_other() -> None:
    """There is no cycle of imports, lazy ones included."""
    graph = {name: imported(path) & MODULES.keys() - {name} for name, path in MODULES.items()}
    while graph:
        free = {name for name, needs in graph.items() if not needs & graph.keys()}
        assert free, f"these import each other: {sorted(graph)}"
        graph = {name: needs for name, needs in graph.items() if name not in free}


@pytest.mark.parametrize("kind", ["studies", "figures"])
def test_every_study_has_a_figure_module(kind: str) -> None:
    from bythebook.experiments.core.registry import study_topics

    folder = SRC / "experiments" / kind
    found = {
        f"{path.parent.name}.{path.stem}"
        for path in folder.glob("*/*.py")
        if not path.stem.startswith("_")
    }
    known = {f"{topic}.{name}" for name, topic in study_topics().items() if topic != "faults"}
    assert found == known


def test_the_tests_are_the_same_tree() -> None:
    """A module's tests are at its own path; test_experiments.py draws all figures."""
    elsewhere = tuple(f"bythebook.experiments.{p}" for p in ("equations", "figures", "studies"))
    wanted = {
        path.relative_to(SRC).with_name(f"test_{path.name}").as_posix(): name
        for name, path in MODULES.items()
        if not path.stem.startswith("__") and not name.startswith(elsewhere)
    }
    found = {
        path.relative_to(TESTS).as_posix()
        for package in ("experiments", "models")
        for path in (TESTS / package).glob("**/test_*.py")
        if not {"equations", "studies"} & set(path.parts)
    }
    assert {name for path, name in wanted.items() if path not in found} == WITHOUT_TESTS
    assert found - wanted.keys() == OF_ALL_MODULES


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
            ["run", "fcml/fig-1.15", "force=true"],  # tracked, judged and drawn
            {"mlflow", "hydra", "pandas", "numba", "scipy", "matplotlib.backends.backend_pdf"},
        ),
    ],
)
def test_a_command_loads_only_what_it_needs(
    command: list[str], absent: set[str], tmp_path: Path, empty_store: Path
) -> None:
    shutil.copyfile(empty_store, tmp_path / "mlflow.db")  # making one takes MLflow
    code = (
        "import sys; from bythebook.experiments.cli.main import main;"
        f"assert main({command!r}) == 0;"
        f"print('LOADED', sorted({absent!r} & set(sys.modules)))"
    )
    environment = {"BYTHEBOOK_OUTPUTS": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "LOADED []"
