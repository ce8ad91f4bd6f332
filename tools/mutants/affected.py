"""Which tests and results could show a fault, those first that are likely to and quick."""

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from tools.mutants.calls import Function
from tools.mutants.faults import MODULE, Fault
from tools.mutants.runs import Ran
from tools.mutants.testing import path_of_tests

Importers = Mapping[str, set[str]]  # file below src: the files that import it


def importers(source: Path) -> dict[str, set[str]]:
    """For each module of the models, the files whose imports name it."""
    found: dict[str, set[str]] = {}
    files = {path.relative_to(source).as_posix() for path in source.glob("models/**/*.py")}
    for path in source.glob("**/*.py"):
        for name in _imported(ast.parse(path.read_text())):
            module = f"{name.replace('.', '/')}.py"
            if module in files:
                found.setdefault(module, set()).add(path.relative_to(source).as_posix())
    return found


def _imported(tree: ast.Module) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def calls(fault: Fault, functions: Iterable[Function], known: Importers) -> bool:
    """Does what calls these functions meet the fault?

    What runs when a module is imported may matter to all who call it or a module that imports it.
    """
    file = f"models/{fault.file}"
    if fault.function != MODULE:
        return f"{file} {fault.function}" in functions
    files = {file} | known.get(file, set())
    return any(function.partition(" ")[0] in files for function in functions)


def affected_results(fault: Fault, usual: Mapping[str, Ran], known: Importers) -> list[str]:
    """The results that meet the fault, cheapest first."""
    found = [name for name, ran in usual.items() if calls(fault, ran.functions, known)]
    return sorted(found, key=lambda name: usual[name].seconds)


def affected_tests(fault: Fault, usual: Mapping[str, Ran], known: Importers) -> list[str]:
    """The module's own tests, and all that meet the fault."""
    own = path_of_tests(fault.file)
    ranked = []
    for test, ran in usual.items():
        at_home, meets = test.startswith(f"{own}::"), calls(fault, ran.functions, known)
        if at_home or meets:
            ranked.append((not (at_home and meets), not meets, ran.seconds, test))
    return [test for *_, test in sorted(ranked)]
