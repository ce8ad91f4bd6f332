"""The figure module of a study, its functions, and the order of its figures."""

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.random import Generator

from bythebook.experiments.config.job import Job
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome, axis
from bythebook.experiments.core.study import Study, studies
from bythebook.experiments.execution.worker import compute
from bythebook.experiments.plotting import canvas, registry

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


ORDER = axis("order", [1, 3])
OUTCOME = Outcome(training_loss=ORDER.of([0.4, 0.1]), loo_loss=ORDER.of([0.5, 0.9]))
FILE = "experiment/fcml/fig-1.15.yaml"


def polynomials(named: dict[str, list[Any]], source: str = FILE) -> Any:
    study = studies()["polynomial_order"](orders=[1, 3])
    with canvas.style("screen"):
        return registry.figures(study, OUTCOME, named, source=source)


def test_named_figures_are_drawn_with_their_arguments() -> None:
    drawn = polynomials({"losses": ["loo_loss"]})
    assert list(drawn) == ["losses"]
    (ax,) = drawn["losses"].axes
    assert np.array_equal(ax.lines[0].get_ydata(), [0.5, 0.9])
    assert len(polynomials({"losses": []})["losses"].axes) == 2  # those that are recorded


def test_an_error_names_the_file_and_the_figure_in_one_line() -> None:
    with pytest.raises(InputError) as error:
        polynomials({"losses": ["holdout_loss"]})
    (line,) = error.value.problems
    assert line.startswith(f"{FILE}: figure losses: holdout_loss: there is no quantity")
    with pytest.raises(InputError, match="study polynomial_order has no figure 'loses'"):
        polynomials({"loses": []})
    with pytest.raises(InputError, match=r"figure weights: .* no quantity 'weight'"):
        polynomials({"weights": [1]})


def test_with_other_parameters_what_is_missing_is_left_out() -> None:
    assert list(polynomials({"weights": [1], "losses": ["loo_loss"]}, "")) == ["losses"]
    (ax,) = polynomials({"losses": ["loo_loss", "holdout_loss"]}, "")["losses"].axes
    assert ax.get_title() == "Leave-one-out"
    assert list(polynomials({"weights": [1]}, "")) == ["losses"]  # those without names
    assert list(polynomials({"loses": []}, "")) == ["losses"]


MODULE = """
from collections.abc import Iterator
from bythebook.experiments.plotting.marks import Panel, line

def second() -> Iterator[Panel]:
    yield Panel(line("loo_loss"))

def missing() -> Iterator[Panel]:
    yield Panel(line("kfold_loss"))

def chosen(order: int) -> Iterator[Panel]:
    yield Panel(line("loo_loss", only=[order]))

def first() -> Iterator[Panel]:
    yield Panel(line("training_loss"))
"""


@dataclass
class Drawable(Study):
    """A study without parameters."""

    def run(self, rng: Generator) -> Outcome:
        return OUTCOME


def test_without_names_every_function_is_drawn_whose_quantities_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bythebook.experiments.figures as package

    (tmp_path / "toys").mkdir()
    (tmp_path / "toys" / "__init__.py").touch()
    (tmp_path / "toys" / "drawable.py").write_text(MODULE)
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    monkeypatch.setattr(Drawable, "topic", "toys")
    with canvas.style("screen"):
        assert list(registry.figures(Drawable(), OUTCOME)) == ["second", "first"]
    for name in ("toys.drawable", "toys"):
        del sys.modules[f"{registry.PACKAGE}.{name}"]
