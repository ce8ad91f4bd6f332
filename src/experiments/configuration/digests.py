"""A digest of the code behind a study: the files it is made of, and no others.

A run is redone when its code has changed, and only then: editing the README, the report or another
study leaves it alone. The files are found by following import statements from the study's module
through `experiments.studies` and `models`, without running anything.
"""

import hashlib
import importlib
import re
from functools import cache
from pathlib import Path

# The random stream is part of every result; how claims are judged and figures drawn is not.
_ALWAYS = ("experiments.contract.streams",)
_FOLLOWED = ("experiments.studies", "models")
# The registries of data: what they say of a set is in its own digest, which is part of the key.
_DATA = (
    "models.standins",
    *(f"models.data_sets.{n}" for n in ("embedded", "generated", "originals")),
)


@cache
def code_digest(module: str) -> str:
    """The digest of a study's module and of everything of ours that it imports."""
    digest = hashlib.sha256()
    for name in sorted(closure(module) | set(_ALWAYS)):
        digest.update(f"{name}\0".encode() + _path(name).read_bytes())
    return digest.hexdigest()[:16]


def closure(module: str) -> set[str]:
    """The modules of `experiments.studies` and `models` that a module reaches by imports."""
    reached: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in reached or name in _FOLLOWED or name in _DATA:
            continue
        reached.add(name)
        waiting += _imports(name)
    return reached


# Import statements, lazy ones too. Parsing the files would take ten times as long; a test compares.
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([\w., \t]+)$", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n(]+)", re.MULTILINE)


@cache
def _imports(module: str) -> tuple[str, ...]:
    text = _path(module).read_text(encoding="utf-8")
    found: set[str] = set()
    for names in _IMPORT.findall(text):
        found |= {name.split()[0] for name in names.split(",")}
    for package, names in _FROM.findall(text):
        listed = re.sub(r"#[^\n]*", "", names).strip("()").split(",")
        found |= {package, *(f"{package}.{name.split()[0]}" for name in listed if name.split())}
    return tuple(sorted(name for name in found if _is_ours(name)))


def _is_ours(name: str) -> bool:
    """Is it one of our modules? `models.linear.fit` is not: it is a function of one."""
    return name.startswith(tuple(f"{root}." for root in _FOLLOWED)) and _find(name) is not None


@cache
def _path(name: str) -> Path:
    found = _find(name)
    assert found is not None, name
    return found


def _find(name: str) -> Path | None:
    """The file of a module or package, without importing it."""
    root = next((root for root in _FOLLOWED if name.startswith(f"{root}.")), None)
    if root is None:
        package, _, module = name.rpartition(".")
        return _below(package, module)
    return _below(root, name.removeprefix(f"{root}.").replace(".", "/"))


def _below(package: str, module: str) -> Path | None:
    for folder in importlib.import_module(package).__path__:
        for path in (Path(folder) / f"{module}.py", Path(folder) / module / "__init__.py"):
            if path.exists():
                return path
    return None
