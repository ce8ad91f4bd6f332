"""The figures of a study: found by its place, imported when somebody looks."""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figures(study: Any, outcome: Any) -> "Mapping[str, Figure]":
    """The figures of a recorded outcome, by name; the first is the headline."""
    if hasattr(study, "draw"):
        drawn: Mapping[str, Figure] = study.draw(outcome)
        return drawn
    module = importlib.import_module(f"experiments.figures.{study.topic}.{study.name}")
    return dict(module.draw(study, outcome))
