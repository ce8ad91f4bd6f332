"""Names and topics of the studies, from the files of the package, without importing a study.

A study is the module of its name in a topic's package: the class PolynomialOrder is in
`bythebook.experiments.studies.regression.polynomial_order`.
"""

import importlib
import re
from functools import cache
from pathlib import Path

PACKAGE = "bythebook.experiments.studies"


def study_folders() -> tuple[str, ...]:
    """The folders that contain studies; tests add theirs to the package."""
    return tuple(importlib.import_module(PACKAGE).__path__)


def study_topics() -> dict[str, str]:
    """The topic of every study, by the study's name."""
    return _scan_folders(study_folders())


def topic_of(study: str) -> str:
    """The topic of a study; an empty string if there is no such study."""
    return study_topics().get(study, "")


@cache
def _scan_folders(folders: tuple[str, ...]) -> dict[str, str]:
    files = [path for folder in folders for path in Path(folder).glob("*/[!_]*.py")]
    return {path.stem: path.parent.name for path in sorted(files, key=lambda path: path.stem)}


def to_snake_case(name: str) -> str:
    """A class name in snake case: `polynomial_order` for PolynomialOrder."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
