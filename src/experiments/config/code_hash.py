"""Hashes of the code that computes a study's numbers or an equation, for the key of a run.

The hash covers the study's module and every module of `studies` and `models` that it imports,
directly or indirectly. It is computed from the syntax trees without docstrings, comments,
annotations, the order of imports, the names of pipeline packages, and the declarations of
quantities and axes. A reworded comment or a renamed pipeline package leaves the keys unchanged; a
changed constant does not. No module is imported.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from bythebook.experiments.core.equations import find_equation
from bythebook.experiments.core.registry import study_folders

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGE = __name__.partition(".")[0]
# The random numbers are part of every result; judging claims and drawing figures are not.
_ALWAYS_HASHED = ("experiments.core.random_streams",)
_HASHED_PACKAGES = ("experiments.studies", "experiments.equations", "models")
# The digest of a data set is part of the key, so the registries of data are not hashed.
_DATA_REGISTRIES = (
    "models.standins",
    *(f"models.data_sets.{n}" for n in ("embedded", "generated", "originals")),
)
_DECLARATIONS = {"quantities", "axes", "more_quantities"}  # class attributes that only describe
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


@cache
def equation_code_hash(name: str) -> str:
    """The hash of an equation's function, as 16 hexadecimal digits.

    It covers what the function uses of its module, the models that it imports, its tolerance, and
    whether there is a corrected form. Other functions of the file and the formulas do not enter.
    """
    entry = find_equation(name)
    tree = ast.parse(entry.path.read_bytes())
    defined = {word: node for node in tree.body for word in _defined_names(node)}
    used, waiting = dict[str, ast.stmt](), [entry.function]
    while waiting:
        word = waiting.pop()
        if word in defined and word not in used:
            used[word] = defined[word]
            found = (n for n in ast.walk(defined[word]) if isinstance(n, ast.Name))
            waiting += [n.id for n in found]
    imports: set[str] = set()
    text = [f"{entry.within!r} {entry.corrected is not None}"]
    for word in sorted(used):
        node = used[word]
        if isinstance(node, ast.Import | ast.ImportFrom):
            own = [alias for alias in node.names if word in (alias.asname, _top(alias))]
            text += _imported_names(_with_names(node, own), imports)
        else:
            if isinstance(node, ast.FunctionDef):  # the decorator has the formula
                node.decorator_list = []
            text += _canonical(node, imports)
    digest = hashlib.sha256("\n".join(text).encode())
    reached: set[str] = set()
    for module in sorted(imports):
        reached |= imported_modules(module)
    for module in sorted(reached):
        digest.update(module.encode() + b"\0" + _read(module).digest)
    return digest.hexdigest()[:16]


def _defined_names(node: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or _top(alias) for alias in node.names)
    else:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id


def _top(alias: ast.alias) -> str:
    return alias.name.partition(".")[0]


def _with_names(
    node: ast.Import | ast.ImportFrom, names: list[ast.alias]
) -> ast.Import | ast.ImportFrom:
    """The import of some of the names."""
    if isinstance(node, ast.Import):
        return ast.Import(names)
    return ast.ImportFrom(node.module, names, node.level)


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


def _canonical(node: ast.AST, imports: set[str]) -> list[str]:
    """The tree as words that are independent of layout, comments and the version of Python.

    Imported modules of the hashed packages are added to `imports`.
    """
    words: list[str] = []
    _append_words(node, words, imports)
    return words


def _append_words(node: Any, words: list[str], imports: set[str]) -> None:
    kind: Any = type(node)
    words.append(kind.__name__)
    if kind is ast.AnnAssign and node.value is None:
        words.append(ast.unparse(node.target))  # the order of a dataclass's fields
        return
    for field in _hashed_fields(kind):
        value = getattr(node, field)
        if isinstance(value, list):
            words.append(field)
            if field == "body" and _has_docstring(node):
                value = value[1:]
            if kind is ast.ClassDef:
                value = [entry for entry in value if not _is_declaration(entry)]
            for are_imports, group in _runs_of_imports(value):
                if are_imports:  # in any order
                    words += sorted(word for e in group for word in _imported_names(e, imports))
                    continue
                for entry in group:
                    if isinstance(entry, ast.AST):
                        _append_words(entry, words, imports)
                    else:
                        words.append(repr(entry))
        elif isinstance(value, ast.AST):
            _append_words(value, words, imports)
        else:
            words.append(repr(value))


def _runs_of_imports(nodes: list[Any]) -> Iterable[tuple[bool, Iterable[Any]]]:
    """Neighbouring nodes in groups, and whether a group consists of imports."""
    if nodes and isinstance(nodes[0], ast.stmt):
        return groupby(nodes, key=_is_import)
    return [(False, nodes)]


@cache
def _hashed_fields(kind: Any) -> tuple[str, ...]:
    return tuple(field for field in kind._fields if field not in _NOT_HASHED)


def _is_declaration(node: Any) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return isinstance(targets[0], ast.Name) and targets[0].id in _DECLARATIONS


def _is_import(node: Any) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _has_docstring(node: ast.AST) -> bool:
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None


def _imported_names(node: ast.Import | ast.ImportFrom, imports: set[str]) -> Iterator[str]:
    """The names that an import binds; pipeline packages are left out."""
    module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
    if module.endswith(".core.declarations"):
        return
    for alias in node.names:
        full = f"{module}.{alias.name}" if module else alias.name
        if full == "typing.ClassVar":
            continue
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
