"""A run's code: every file it is made of, found without running anything, and no other."""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

import experiments.studies
from experiments.configuration import digests
from experiments.configuration.digests import closure, code_digest
from experiments.contract.places import places

FILES = {
    "first": "from experiments.studies.made import second\nimport numpy\n",
    "second": "def run():\n    from models.types import Floats\n",  # a lazy import counts
    "third": "from experiments.contract import outcome\n",
}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, str]]:
    """A topic of three modules, and the digest of each as its files stand."""
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "__init__.py").touch()
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text)
    package = [*experiments.studies.__path__, str(tmp_path)]
    monkeypatch.setattr(experiments.studies, "__path__", package)

    def found() -> dict[str, str]:
        for cached in (digests.code_digest, digests._imports, digests._path):
            cached.cache_clear()
        return {name: code_digest(f"experiments.studies.made.{name}") for name in FILES}

    return found


def test_what_a_module_imports_is_followed(made: Callable[[], dict[str, str]]) -> None:
    assert made()
    ours = {f"experiments.studies.made.{name}" for name in ("first", "second")}
    assert closure("experiments.studies.made.first") - {"experiments.studies.made"} == {
        *ours,
        "models.types",
    }
    assert closure("experiments.studies.made.third") == {"experiments.studies.made.third"}


def test_a_change_reaches_those_that_import_it_and_no_others(
    made: Callable[[], dict[str, str]], tmp_path: Path
) -> None:
    before = made()
    assert len(set(before.values())) == 3
    (tmp_path / "made" / "second.py").write_text(FILES["second"] + "# a remark\n")
    after = made()
    assert {name for name in FILES if after[name] != before[name]} == {"first", "second"}
    (tmp_path / "made" / "second.py").write_text(FILES["second"])
    assert made() == before


@pytest.mark.parametrize("study", list(places()))
def test_no_study_reaches_what_draws_or_judges(study: str) -> None:
    reached = closure(f"experiments.studies.{places()[study]}.{study}")
    assert all(name.startswith(("experiments.studies.", "models.")) for name in reached)


def test_reading_the_lines_finds_what_parsing_finds() -> None:
    src = Path(digests.__file__).parents[2]
    for path in [*src.glob("models/**/*.py"), *src.glob("experiments/studies/**/*.py")]:
        module = ".".join(path.relative_to(src).with_suffix("").parts).removesuffix(".__init__")
        if module in ("models", "experiments.studies"):
            continue
        found: set[str] = set()
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        assert set(digests._imports(module)) == {name for name in found if digests._is_ours(name)}
