"""The registry of printed equations reads source files only; verdicts follow from gaps."""

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

from bythebook.experiments.core import equations
from bythebook.experiments.core.equations import (
    Equation,
    Evaluation,
    Sides,
    describe_gap,
    evaluate,
    evaluate_function,
    find_equation,
    select_equations,
)
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.verdicts import DIFFERS, ERRATUM, HOLDS

RIGHT = Equation("prml", "ch1", "right", 1, "1.2", "A sum.", "1.1", "a + b")
MISPRINTED = Equation("prml", "ch1", "wrong", 1, "1.3", "A sum.", "1.1", "a - b", "a + b")


@pytest.mark.parametrize(
    ("entry", "gap", "corrected", "verdict"),
    [
        (RIGHT, 1e-12, None, HOLDS),
        (RIGHT, 1e-3, None, DIFFERS),
        (RIGHT, math.inf, None, DIFFERS),
        (MISPRINTED, 0.3, 1e-15, ERRATUM),
        (MISPRINTED, 0.3, 0.2, DIFFERS),
        (MISPRINTED, 1e-15, 1e-15, HOLDS),
        (RIGHT, 0.3, 1e-15, DIFFERS),
    ],
)
def test_a_verdict(entry: Equation, gap: float, corrected: float | None, verdict: str) -> None:
    assert entry.verdict(gap, corrected) == verdict


def test_the_worst_case_counts() -> None:
    cases = []

    def sides(rng: Generator) -> Sides:
        cases.append(rng.random())
        return Sides(truth=(1.0, [2.0, 4.0]), printed=(1.0, [2.0, 4.0 + 0.1 * len(cases)]))

    found = evaluate_function(RIGHT, sides, cases=4)
    assert found == Evaluation(pytest.approx(0.1), None, 4)
    assert len(set(cases)) == 4
    again = list(cases)
    cases.clear()
    evaluate_function(RIGHT, sides, cases=4)
    assert cases == again, "the cases depend on the name and the seed alone"
    cases.clear()
    evaluate_function(RIGHT, sides, cases=4, seed=1)
    assert not set(cases) & set(again)


@pytest.mark.parametrize(
    ("sides", "reason"),
    [
        (lambda rng: Sides(1.0, np.ones(2)), "shapes"),
        (lambda rng: Sides(np.ones(0), np.ones(0)), "shapes"),
        (lambda rng: Sides(1.0, np.nan), "not finite"),
        (lambda rng: Sides((1.0, 2.0), (1.0,)), "ValueError"),
        (lambda rng: Sides(1.0, 1.0, 1.0), "belong together"),
        (lambda rng: 1 // 0, "ZeroDivisionError"),
        (lambda rng: {}["x"], "KeyError"),
    ],
)
def test_a_side_that_cannot_be_compared_fails(sides: Any, reason: str) -> None:
    found = evaluate_function(RIGHT, sides)
    assert found.gap == math.inf
    assert reason in found.reason
    assert found.content["reason"] == found.reason
    assert RIGHT.verdict(found.gap, found.corrected_gap) == DIFFERS


def test_numbers_of_an_equation() -> None:
    entry = Equation("prml", "m", "f", 1, "10.58, 10.60 to 10.62, exercise 10.18", "S", "10", "x")
    assert entry.numbers == {"10.58", "10.60", "10.61", "10.62"}


def test_selections() -> None:
    mixing = find_equation("prml.expected_mixing")
    assert mixing in select_equations(["prml:10.69"])
    for word in ("prml", "prml/10", "prml/10.2", "prml/10.2.1", "prml.expected_mixing"):
        assert mixing in select_equations([word])
    assert mixing not in select_equations(["prml/8", "prml/11"])
    assert len(select_equations([])) == len(equations.all_equations())
    for word in ("prml/1", "prml/99", "prml:0.1", "latin", "prml.x", ""):
        with pytest.raises(InputError, match="there is no equation"):
            select_equations([word])
    with pytest.raises(InputError, match=r"did you mean 'prml\.expected_mixing'"):
        find_equation("prml.expected_mixin")


def write_book(folder: Path, text: str) -> None:
    (folder / "prml").mkdir()
    (folder / "prml" / "ch1.py").write_text(text)


@pytest.mark.parametrize(
    ("decorator", "problem"),
    [
        ('@equation("1.1", section="1", latex=LATEX)', "could not be read"),
        ('@equation("1.1", section="1", latex="x", colour="red")', "could not be read"),
        ('@equation(section="1", latex="x")', "could not be read"),
    ],
)
def test_an_invalid_decorator_is_refused(
    decorator: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_book(tmp_path, f"{decorator}\ndef f(rng):\n    'One.'\n")
    monkeypatch.setattr(equations, "FOLDER", tmp_path)
    equations.book_equations.cache_clear()
    try:
        with pytest.raises(InputError, match=problem):
            equations.book_equations("prml")
    finally:
        equations.book_equations.cache_clear()


def test_a_list_imports_no_equation() -> None:
    code = (
        "import sys; from bythebook.experiments.core.equations import *;"
        " heavy = [m for m in sys.modules if m == 'numpy' or 'experiments.equations.' in m];"
        " print(len(all_equations()), heavy)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split(" ", 1)[1].strip() == "[]"


def test_an_evaluation_is_recorded_without_an_empty_reason() -> None:
    entry = find_equation("prml.expected_mixing")
    found = evaluate(entry, cases=3)
    assert found.content == {
        "gap": found.gap,
        "corrected_gap": found.corrected_gap,
        "cases": 3,
    }
    assert "def expected_mixing" in entry.source
    assert entry.source.startswith("@equation(")


def test_a_gap_as_text() -> None:
    assert describe_gap(0.0) == "no difference"
    assert describe_gap(9.12e-15) == "gap 9.1e-15"
