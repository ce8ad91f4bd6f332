"""Figures are found by their study's place, and drawn from the outcome alone."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from matplotlib.figure import Figure

from experiments.configuration.jobs import Job
from experiments.contract.outcome import Outcome
from experiments.contract.study import studies
from experiments.drawing import registry
from experiments.running.work import compute

FAULTS = Path(__file__).parents[2] / "faults"


@pytest.mark.usefixtures("misbehaving")
def test_a_study_is_drawn_by_the_module_of_its_name() -> None:
    study = studies()["misbehaving"]()
    assert registry.figures(study, compute(Job(study)).outcome) == {}  # it draws nothing
    drawn = sys.modules["experiments.figures.faults.misbehaving"].__file__
    assert Path(str(drawn)) == FAULTS / "figures" / "faults" / "misbehaving.py"


def test_figures_come_in_the_order_in_which_they_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is what a list of runs shows."""
    module: Any = ModuleType("experiments.figures.regression.polynomial_order")
    given: list[object] = []

    def draw(*arguments: object) -> Any:
        given.extend(arguments)
        return ((name, Figure()) for name in ("second", "first"))

    module.draw = draw
    monkeypatch.setitem(sys.modules, module.__name__, module)
    study, outcome = studies()["polynomial_order"](), Outcome()
    assert list(registry.figures(study, outcome)) == ["second", "first"]
    assert given == [study, outcome]
