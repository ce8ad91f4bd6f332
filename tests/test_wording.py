"""Words that no text uses, names in docstrings that exist, and paths that are there."""

import ast
import builtins
import importlib
import keyword
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "src").rglob("*.py"))
TEXTS = ("src", "tests", "docs", "conf", "tools", "benchmarks", "README.md", "CHANGELOG.md")
# CONTRIBUTING has a list of words with what to write for them.
AVOIDED = re.compile(r"\b(told|tells|nought|anew|mended|whereof|beside|hereafter)\b", re.IGNORECASE)
TOOLING = ("Makefile", ".ci/run", ".pre-commit-config.yaml", "pyproject.toml", ".gitignore")
PATH = re.compile(r"(?<![\w./-])((?:src|conf|tests|docs|tools|benchmarks|\.ci)/[\w./-]*[\w/])")
NAME = re.compile(r"`([A-Za-z_][\w.]*)(?:\(\))?`")


def tracked(*places: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *places],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("this is no git checkout")
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def test_texts_avoid_words_that_readers_stumble_over() -> None:
    found = []
    for path in tracked(*TEXTS):
        if path.suffix in (".csv", ".npz", ".png", ".xz") or path == Path(__file__):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if AVOIDED.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not found, "\n".join(found)


@cache
def defined() -> frozenset[str]:
    """Functions, classes, constants and modules of the package, by their short and dotted names."""
    names = {*keyword.kwlist, *dir(builtins), "true", "false", "null"}
    for path in MODULES:
        parts = ("bythebook", *path.relative_to(ROOT / "src").with_suffix("").parts)
        names |= {".".join(parts[start:]) for start in range(len(parts))} | set(parts)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.Name) and node.id.isupper():  # a constant
                names.add(node.id)
            elif isinstance(node, ast.Constant) and str(node.value).isupper():  # of the environment
                names.add(str(node.value))
    return frozenset(names)


def words_of(tree: ast.AST) -> set[str]:
    """Every identifier of a module, and every word of its strings but the docstrings."""
    words = set()
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    texts = {ast.get_docstring(n, clean=False) for n in ast.walk(tree) if isinstance(n, documented)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            words.add(node.id)
        elif isinstance(node, ast.Attribute):
            words.add(node.attr)
        elif isinstance(node, ast.arg | ast.keyword):
            words.add(node.arg or "")
        elif isinstance(node, ast.alias):
            words |= {*node.name.split("."), node.asname or ""}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words |= set() if node.value in texts else set(re.findall(r"\w+", node.value))
    return words


def exists(name: str, words: set[str]) -> bool:
    if name in defined() or all(part in words or part in defined() for part in name.split(".")):
        return True
    top, *rest = name.split(".")  # np.linalg.solve, rich
    try:
        value = importlib.import_module({"np": "numpy"}.get(top, top))
    except ImportError:
        return False
    for part in rest:
        value = getattr(value, part, None)
    return value is not None


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_in_docstrings_exist(path: Path) -> None:
    tree = ast.parse(path.read_text())
    words = words_of(tree)
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, documented):
            for name in NAME.findall(ast.get_docstring(node) or ""):
                assert exists(name, words), f"line {getattr(node, 'lineno', 1)}: `{name}`"


def test_paths_in_tooling_and_documentation_exist() -> None:
    files = [*tracked(*TOOLING), *tracked("*.md", "docs/*.md", "conf/*.yaml")]
    files = [path for path in files if path.name != "CHANGELOG.md"]  # it names what was renamed
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files
        for name in PATH.findall(path.read_text())
        if not (ROOT / name).exists() and not name.endswith(".new")
    ]
    assert not missing, "\n".join(missing)
