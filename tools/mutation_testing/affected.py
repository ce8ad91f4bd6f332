"""Selects the tests and results that can detect a fault, likely and fast ones first."""

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from tools.mutation_testing.calls import Function
from tools.mutation_testing.faults import MODULE, Fault
from tools.mutation_testing.runs import Ran
from tools.mutation_testing.testing import path_of_tests

Importers = Mapping[str, set[str]]  # file below src: the files that import it


def importers(source: Path) -> dict[str, set[str]]:
    """For each module of the models, the files that import it."""
    importing: dict[str, set[str]] = {}
    files = {path.relative_to(source).as_posix() for path in source.glob("models/**/*.py")}
    for path in source.glob("**/*.py"):
        for name in _imported(ast.parse(path.read_text())):
            module = f"{name.removeprefix('bythebook.').replace('.', '/')}.py"
            if module in files:
                importing.setdefault(module, set()).add(path.relative_to(source).as_posix())
    return importing


def _imported(tree: ast.Module) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def calls(fault: Fault, functions: Iterable[Function], known: Importers) -> bool:
    """True if code that calls these functions can execute the fault.

    A fault in module-level code can affect every caller of the module and of its importers.
    """
    file = f"models/{fault.file}"
    if fault.function != MODULE:
        return f"{file} {fault.function}" in functions
    files = {file} | known.get(file, set())
    return any(function.partition(" ")[0] in files for function in functions)


def affected_results(fault: Fault, usual: Mapping[str, Ran], known: Importers) -> list[str]:
    """The results that can execute the fault, fastest first."""
    names = [name for name, ran in usual.items() if calls(fault, ran.functions, known)]
    return sorted(names, key=lambda name: usual[name].seconds)


def affected_tests(fault: Fault, usual: Mapping[str, Ran], known: Importers) -> list[str]:
    """The tests of the module, and all tests that can execute the fault."""
    own = path_of_tests(fault.file)
    ranked = []
    for test, ran in usual.items():
        in_module, executes = test.startswith(f"{own}::"), calls(fault, ran.functions, known)
        if in_module or executes:
            ranked.append((not (in_module and executes), not executes, ran.seconds, test))
    return [test for *_, test in sorted(ranked)]
