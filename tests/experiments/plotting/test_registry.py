"""The figure module of a study, and the order of its figures."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from matplotlib.figure import Figure

from bythebook.experiments.config.job import Job
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.study import studies
from bythebook.experiments.execution.worker import compute
from bythebook.experiments.plotting import registry

FAULTS = Path(__file__).parents[2] / "faults"


@pytest.mark.usefixtures("misbehaving")
def test_the_figure_module_has_the_name_of_the_study() -> None:
    study = studies()["misbehaving"]()
    assert registry.figures(study, compute(Job(study)).outcome) == {}  # the study has no figure
    drawn = sys.modules["bythebook.experiments.figures.faults.misbehaving"].__file__
    assert Path(str(drawn)) == FAULTS / "figures" / "faults" / "misbehaving.py"


def test_figures_are_in_the_order_of_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of runs shows the first figure."""
    module: Any = ModuleType("bythebook.experiments.figures.regression.polynomial_order")
    given: list[object] = []

    def draw(*arguments: object) -> Any:
        given.extend(arguments)
        return ((name, Figure()) for name in ("second", "first"))

    module.draw = draw
    monkeypatch.setitem(sys.modules, module.__name__, module)
    study, outcome = studies()["polynomial_order"](), Outcome()
    assert list(registry.figures(study, outcome)) == ["second", "first"]
    assert given == [study, outcome]
