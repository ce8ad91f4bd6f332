"""The figures of an experiment file: names of functions and their arguments."""

import sys
from pathlib import Path

import pytest

from bythebook.experiments.core import figure_functions
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.figure_functions import needs_arguments, parse_figures

MODULE = """
from collections.abc import Iterator
from bythebook.experiments.plotting.marks import Panel, line

def losses(*quantities: str) -> Iterator[Panel]:
    yield from (Panel(line(name)) for name in quantities)

def fits(order: int, height: float = 1.0) -> Iterator[Panel]:
    yield Panel(line("curve"))

def draw(study, outcome):
    yield from ()

def helper() -> int:
    return 1

def _hidden() -> Iterator[Panel]:
    yield from ()
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A figure module in a folder of its own, which is never imported."""
    import bythebook.experiments.figures as package

    (tmp_path / "topic").mkdir()
    (tmp_path / "topic" / "toy.py").write_text(MODULE)
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    assert "bythebook.experiments.figures.topic" not in sys.modules


def test_figure_functions_are_those_that_return_panels() -> None:
    known = figure_functions.figure_functions("topic", "toy")
    assert list(known) == ["losses", "fits"]
    assert [needs_arguments(signature) for signature in known.values()] == [False, True]
    assert figure_functions.figure_functions("topic", "unknown") == {}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, {}),
        (["losses"], {"losses": []}),
        ({"losses": ["a", "b"], "fits": [3]}, {"losses": ["a", "b"], "fits": [3]}),
        ({"fits": [3, 2]}, {"fits": [3, 2]}),  # an integer is a float
    ],
)
def test_names_and_arguments(content: object, expected: object) -> None:
    assert parse_figures("topic", "toy", content) == expected


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (
            ["loses"],
            "figures: study toy has no figure 'loses' (did you mean 'losses'?);"
            " allowed: losses, fits",
        ),
        (["_hidden"], "figures: study toy has no figure '_hidden'; allowed: losses, fits"),
        (["losses", "losses"], "a list of distinct names"),
        ([{"losses": []}], "a list of distinct names"),
        ("losses", "allowed: [name, ...] or {name: [arguments]}"),
        ({"fits": []}, "missing a required argument: 'order'; allowed: fits(order: int"),
        ({"fits": [1, 2, 3]}, "too many positional arguments; allowed: fits(order: int"),
        ({"fits": 1}, "the arguments of fits are not a list; allowed: fits(order: int"),
        ({"fits": [1.5]}, "order=1.5 is not allowed; allowed: fits(order: int, height: float"),
        ({"fits": [True]}, "order=True is not allowed"),
        ({"losses": ["a", 2]}, "quantities=2 is not allowed; allowed: losses(*quantities: str)"),
    ],
)
def test_other_names_and_arguments_are_refused_in_one_line(content: object, line: str) -> None:
    with pytest.raises(InputError) as error:
        parse_figures("topic", "toy", content)
    assert len(error.value.problems) == 1
    assert line in error.value.problems[0]
