"""The figures of a study: found by its place, imported when somebody looks."""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from experiments.contract.outcome import Outcome
from experiments.contract.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PACKAGE = "experiments.figures"


def figures(study: Study, outcome: Outcome) -> "Mapping[str, Figure]":
    """The figures of a recorded outcome, by name; the first is the headline."""
    module = importlib.import_module(f"{PACKAGE}.{study.topic}.{study.name}")
    return dict(module.draw(study, outcome))
