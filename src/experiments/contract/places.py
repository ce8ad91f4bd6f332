"""Where studies live: found by their files, without importing anything."""

import importlib
import re
from functools import cache
from pathlib import Path

PACKAGE = "experiments.studies"
_DEFINITION = re.compile(r"^class (\w+)\([^)]*\bStudy\):", re.MULTILINE)


def places() -> dict[str, str]:
    """The module of every study, below the package."""
    return _found(tuple(importlib.import_module(PACKAGE).__path__))


def topic(study: str) -> str:
    """The package a study lives in; nothing for one that is gone."""
    return places().get(study, "").partition(".")[0]


@cache
def _found(folders: tuple[str, ...]) -> dict[str, str]:
    found = {
        snake(name): f"{path.parent.name}.{path.stem}"
        for folder in folders
        for path in Path(folder).glob("*/*.py")
        for name in _DEFINITION.findall(path.read_text(encoding="utf-8"))
    }
    return dict(sorted(found.items()))


def snake(name: str) -> str:
    """PolynomialOrder as polynomial_order."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
