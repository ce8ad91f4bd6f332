"""Where studies live: found by their files, without importing anything.

A study is the module of its name in a topic's package: `polynomial_order` is PolynomialOrder
in `experiments.studies.regression.polynomial_order`.
"""

import importlib
import re
from functools import cache
from pathlib import Path

PACKAGE = "experiments.studies"


def places() -> dict[str, str]:
    """The topic of every study."""
    return _found(tuple(importlib.import_module(PACKAGE).__path__))


def topic(study: str) -> str:
    """The package a study lives in; nothing for one that is gone."""
    return places().get(study, "")


@cache
def _found(folders: tuple[str, ...]) -> dict[str, str]:
    files = [path for folder in folders for path in Path(folder).glob("*/[!_]*.py")]
    return {path.stem: path.parent.name for path in sorted(files, key=lambda path: path.stem)}


def snake(name: str) -> str:
    """PolynomialOrder as polynomial_order."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
