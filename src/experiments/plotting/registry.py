"""Finds the module that draws the figures of a study, imports it on demand, and draws.

A figure is a function that yields panels of marks. A module with the function
`draw(study, outcome)` makes Matplotlib figures itself, which are drawn unless others are named.
"""

import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING

from bythebook.experiments.core import figure_functions
from bythebook.experiments.core.alignment import ExpressionError
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.figure_functions import FigureArguments
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PACKAGE = figure_functions.PACKAGE


def figures(
    study: Study,
    outcome: Outcome,
    named: FigureArguments | None = None,
    *,
    source: str = "",
) -> "Mapping[str, Figure]":
    """The figures of an outcome, by name; lists and the gallery show the first.

    They are those that the file `source` names, with their arguments, and all of their quantities
    must be there. Without a file, what is not recorded is left out; without names, all functions
    that need no arguments are drawn.
    """
    module = importlib.import_module(f"{PACKAGE}.{study.topic}.{study.name}")
    try:
        chosen = figure_functions.parse_figures(study.topic, study.name, named or None)
    except InputError:  # a record of other code
        if source:
            raise
        chosen = {}
    drawn = _named_figures(module, study, outcome, chosen, source)
    if drawn:
        return dict(drawn)
    if hasattr(module, "draw"):
        return dict(module.draw(study, outcome))
    known = figure_functions.figure_functions(study.topic, study.name)
    alone: FigureArguments = {
        name: [] for name, s in known.items() if not figure_functions.needs_arguments(s)
    }
    return dict(_named_figures(module, study, outcome, alone, ""))


def _named_figures(
    module: ModuleType, study: Study, outcome: Outcome, named: FigureArguments, source: str
) -> "list[tuple[str, Figure]]":
    from bythebook.experiments.plotting.panels import draw_panels

    drawn = []
    for name, arguments in named.items():
        try:
            panels = getattr(module, name)(*arguments)
            drawn.append((name, draw_panels(panels, study, outcome, strict=bool(source))))
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            if source:
                raise InputError(f"{source}: figure {name}: {error}") from error
            if not isinstance(error, ExpressionError):  # one of these: it is not recorded
                where = f"figures/{study.topic}/{study.name}.py"
                raise ValueError(f"{where}: figure {name}: {error}") from error
    return drawn
