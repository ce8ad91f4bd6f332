"""Finds the module that draws the figures of a study, and imports it on demand."""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PACKAGE = "bythebook.experiments.figures"


def figures(study: Study, outcome: Outcome) -> "Mapping[str, Figure]":
    """The figures of an outcome, by name; lists and the gallery show the first."""
    module = importlib.import_module(f"{PACKAGE}.{study.topic}.{study.name}")
    return dict(module.draw(study, outcome))
