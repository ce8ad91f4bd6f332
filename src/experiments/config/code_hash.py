"""A hash of the code that computes a study's numbers, for the key of a run.

The hash covers the study's module and every module of `studies` and `models` that it imports,
directly or indirectly. It is computed from the syntax trees without docstrings, comments,
annotations, the order of imports and the names of pipeline packages. A reworded comment or a
renamed pipeline package leaves the keys unchanged; a changed constant does not. No module is
imported.
"""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from bythebook.experiments.core.registry import study_folders

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGE = __name__.partition(".")[0]
# The random numbers are part of every result; judging claims and drawing figures are not.
_ALWAYS_HASHED = ("experiments.core.random_streams",)
_HASHED_PACKAGES = ("experiments.studies", "models")
# The digest of a data set is part of the key, so the registries of data are not hashed.
_DATA_REGISTRIES = (
    "models.standins",
    *(f"models.data_sets.{n}" for n in ("embedded", "generated", "originals")),
)
_NOT_HASHED = {"annotation", "ctx", "kind", "returns", "type_comment", "type_params"}


class _Module(NamedTuple):
    digest: bytes
    imports: frozenset[str]  # modules of the hashed packages


@cache
def study_code_hash(module: str) -> str:
    """The hash of a study's module and of all that it imports, as 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for name in sorted(imported_modules(module) | set(_ALWAYS_HASHED)):
        label = name.rpartition("experiments.")[2] if name not in _ALWAYS_HASHED else "streams"
        digest.update(label.encode() + b"\0" + _read(name).digest)
    return digest.hexdigest()[:16]


def imported_modules(module: str) -> set[str]:
    """The modules of `studies` and `models` that a module imports, directly or not, and itself.

    Names are relative to the package: `models.em`, `experiments.studies.regression.ridge_path`.
    """
    reached: set[str] = set()
    waiting = [module.removeprefix(f"{_PACKAGE}.")]
    while waiting:
        name = waiting.pop()
        if name in reached or name in _HASHED_PACKAGES or name in _DATA_REGISTRIES:
            continue
        reached.add(name)
        waiting += _read(name).imports
    return reached


@cache
def _read(module: str) -> _Module:
    path = _find_module(module)
    assert path is not None, module
    tree = ast.parse(path.read_bytes())
    imports: set[str] = set()
    text = "\n".join(_canonical(tree, imports))
    return _Module(hashlib.sha256(text.encode()).digest(), frozenset(imports))


def _canonical(node: ast.AST, imports: set[str]) -> Iterator[str]:
    """The tree as words that are independent of layout, comments and the version of Python.

    Imported modules of the hashed packages are added to `imports`.
    """
    yield type(node).__name__
    if isinstance(node, ast.AnnAssign) and node.value is None:
        yield ast.unparse(node.target)  # the order of a dataclass's fields
        return
    for field in node._fields:
        if field in _NOT_HASHED:
            continue
        value = getattr(node, field)
        if isinstance(value, ast.AST):
            yield from _canonical(value, imports)
        elif isinstance(value, list):
            yield field
            entries = value[_has_docstring(node) and field == "body" :]
            for are_imports, group in groupby(entries, key=_is_import):
                if are_imports:  # in any order
                    yield from sorted(word for e in group for word in _imported_names(e, imports))
                    continue
                for entry in group:
                    if isinstance(entry, ast.AST):
                        yield from _canonical(entry, imports)
                    else:
                        yield repr(entry)
        else:
            yield repr(value)


def _is_import(node: Any) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _has_docstring(node: ast.AST) -> bool:
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None


def _imported_names(node: ast.Import | ast.ImportFrom, imports: set[str]) -> Iterator[str]:
    """The names that an import binds; pipeline packages are left out."""
    module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        full = f"{module}.{alias.name}" if module else alias.name
        local = full.removeprefix(f"{_PACKAGE}.")
        modules = [name for name in (local, local.rpartition(".")[0]) if _is_hashed(name)]
        imports.update(modules)
        if modules or local == full:
            yield f"import {local} {alias.asname or ''}"
        else:
            yield f"import {alias.name} {alias.asname or ''}"


def _is_hashed(name: str) -> bool:
    """Whether this is a module of a hashed package, not a function of one."""
    return name.startswith(tuple(f"{root}." for root in _HASHED_PACKAGES)) and (
        _find_module(name) is not None
    )


@cache
def _find_module(name: str) -> Path | None:
    """The file of a module or package; the module is not imported."""
    for folder, rest in _folders(name):
        for path in (folder / f"{rest}.py", folder / rest / "__init__.py"):
            if path.exists():
                return path
    return None


def _folders(name: str) -> Iterator[tuple[Path, str]]:
    """The folders to search for a module; studies may be in several."""
    if name.startswith("experiments.studies."):
        rest = name.removeprefix("experiments.studies.").replace(".", "/")
        yield from ((Path(folder), rest) for folder in study_folders())
    else:
        yield _ROOT, name.replace(".", "/")
