"""The hash of a study's code: which modules it covers, and which changes it detects."""

from collections.abc import Callable
from pathlib import Path

import pytest

import bythebook.experiments.studies
from bythebook.experiments.config import code_hash
from bythebook.experiments.config.code_hash import (
    equation_code_hash,
    imported_modules,
    study_code_hash,
)
from bythebook.experiments.core import equations
from bythebook.experiments.core.registry import study_topics

PACKAGE = "bythebook.experiments.studies.made"
FILES = {
    "first": f"from {PACKAGE} import second\nimport numpy\n",
    "second": "def run():\n    from bythebook.models.types import Floats\n",  # inside a function
    "third": "from bythebook.experiments.core import outcome\n",
}
STUDY = '''"""Least squares."""

import math

import numpy as np

from bythebook.experiments.core.outcome import Outcome, axis
from bythebook.experiments.core.study import Study, knob
from bythebook.models.types import Floats


class Line(Study):
    """A line through some points."""

    points: int = knob(10, "number of points", at_least=2)

    def run(self, rng: np.random.Generator) -> Outcome:
        """Draw and fit."""
        x: Floats = rng.normal(0.0, 1.5, self.points)
        slope = np.sum(x) / math.sqrt(2)  # scaled
        return Outcome(slope=slope, x=axis("n", self.points).of(x))


def shift(value: float, by: float = 0.5) -> float:
    return value + by
'''
UNCHANGED = {
    "comment": ("  # scaled", "  # scaled by the root of two"),
    "module docstring": ('"""Least squares."""', '"""Straight lines."""'),
    "class docstring": ('"""A line through some points."""', '"""A line."""'),
    "no docstring": ('        """Draw and fit."""\n', ""),
    "annotation of a variable": ("x: Floats = rng", "x: np.ndarray = rng"),
    "annotation of a parameter": ("value: float,", "value: complex,"),
    "annotation of a result": (") -> float:", ") -> complex:"),
    "annotation of a field": ("points: int =", "points: float ="),
    "layout": ("Outcome(slope=slope, x=", "Outcome(\n            slope=slope,\n            x="),
    "order of imports": (
        "import math\n\nimport numpy as np\n",
        "import numpy as np\nimport math\n",
    ),
    "order of names": ("import Outcome, axis", "import axis, Outcome"),
    "one name per import": (
        "core.outcome import Outcome, axis",
        "core.outcome import Outcome\nfrom bythebook.experiments.core.outcome import axis",
    ),
    "renamed pipeline package": ("experiments.core.outcome", "experiments.kernel.labelled"),
    "declared quantities": (
        "    points: int =",
        '    quantities = {"slope": quantity("slope of the line")}\n    points: int =',
    ),
    "declared class variables": (
        "    points: int =",
        '    axes: ClassVar = {"n": axis_of("point")}\n'
        "    more_quantities = True\n    points: int =",
    ),
    "import of declarations": (
        "from bythebook.models.types import Floats",
        "from typing import ClassVar\n"
        "from bythebook.experiments.core.declarations import axis_of, quantity\n"
        "from bythebook.models.types import Floats",
    ),
    "moved pipeline module": ("experiments.core.study import", "experiments.core.base import"),
}
CHANGED = {
    "constant": ("1.5", "1.6"),
    "text": ('axis("n"', 'axis("m"'),
    "metadata of a knob": ("at_least=2", "at_least=3"),
    "operator": ("/ math", "* math"),
    "default value": ("by: float = 0.5", "by: float = 0.25"),
    "called name": ("np.sum(x)", "np.mean(x)"),
    "called method": ("rng.normal", "rng.laplace"),
    "argument": ("slope=slope", "slope=-slope"),
    "variable": ("return value + by", "return by + by"),
    "added statement": ("        slope =", "        x += 1\n        slope ="),
    "removed statement": ("        x: Floats = rng.normal(0.0, 1.5, self.points)\n", ""),
    "variable called like a declaration": (
        "        slope =",
        "        axes = x.shape\n        slope =",
    ),
    "name of a field": ("    points: int", "    number: int"),
    "other library": ("import math\n", "import cmath as math\n"),
    "other name from the pipeline": ("import Outcome, axis", "import Outcome, over as axis"),
    "other module of models": ("models.types import Floats", "models.types import Ints as Floats"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A topic, which is part of the package of studies."""
    path = tmp_path / "made"
    path.mkdir()
    (path / "__init__.py").touch()
    package = [*bythebook.experiments.studies.__path__, str(tmp_path)]
    monkeypatch.setattr(bythebook.experiments.studies, "__path__", package)
    return path


def hash_of(name: str) -> str:
    """The hash of a module of the topic, from its present files."""
    for cached in (code_hash.study_code_hash, code_hash._read, code_hash._find_module):
        cached.cache_clear()
    return study_code_hash(f"{PACKAGE}.{name}")


@pytest.fixture
def hashes(folder: Path) -> Callable[[], dict[str, str]]:
    """The hashes of three modules, from their present files."""
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text)
    return lambda: {name: hash_of(name) for name in FILES}


def test_imports_are_followed(hashes: Callable[[], dict[str, str]]) -> None:
    assert hashes()
    made = "experiments.studies.made"
    expected = {made, f"{made}.first", f"{made}.second", "models.types"}
    assert imported_modules(f"{PACKAGE}.first") - {"models"} == expected
    assert imported_modules(f"{PACKAGE}.third") == {f"{made}.third"}


def test_a_change_affects_the_modules_that_import_it(
    hashes: Callable[[], dict[str, str]], folder: Path
) -> None:
    before = hashes()
    assert len(set(before.values())) == 3
    (folder / "second.py").write_text(FILES["second"] + "LIMIT = 3\n")
    after = hashes()
    assert {name for name in FILES if after[name] != before[name]} == {"first", "second"}
    (folder / "second.py").write_text(FILES["second"])
    assert hashes() == before


def replaced(change: tuple[str, str]) -> str:
    assert STUDY.count(change[0]) == 1
    return STUDY.replace(*change)


@pytest.mark.parametrize("change", UNCHANGED)
def test_rewording_keeps_the_hash(change: str, folder: Path) -> None:
    file = folder / "line.py"
    file.write_text(STUDY)
    before = hash_of("line")
    file.write_text(replaced(UNCHANGED[change]))
    assert hash_of("line") == before


@pytest.mark.parametrize("change", CHANGED)
def test_another_computation_has_another_hash(change: str, folder: Path) -> None:
    file = folder / "line.py"
    file.write_text(STUDY)
    before = hash_of("line")
    file.write_text(replaced(CHANGED[change]))
    assert hash_of("line") != before


def test_equal_code_of_another_module_has_another_hash(folder: Path) -> None:
    for name in ("line", "curve"):
        (folder / f"{name}.py").write_text(STUDY)
    assert hash_of("line") != hash_of("curve")


def test_the_random_numbers_are_hashed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "line.py").write_text(STUDY)
    before = hash_of("line")
    monkeypatch.setattr(code_hash, "_ALWAYS_HASHED", ())
    assert hash_of("line") != before


@pytest.mark.parametrize("study", list(study_topics()))
def test_a_study_imports_neither_figures_nor_claims(study: str) -> None:
    modules = imported_modules(f"bythebook.experiments.studies.{study_topics()[study]}.{study}")
    assert all(name.startswith(("experiments.studies.", "models.")) for name in modules)


EQUATION_FILE = '''"""Equations."""

import numpy as np

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.regression import ridge
from bythebook.models.sampling import direct

SCALE = 2.0


def _case(rng):
    return rng.normal(size=3) * SCALE


@equation("1.1", section="1", latex="a")
def one(rng):
    """The first."""
    x = _case(rng)
    return Sides(truth=x, printed=ridge.ridge_path(x))


@equation("1.2", section="1", latex="b")
def two(rng):
    """The second."""
    return Sides(truth=1.0, printed=direct.f(1.0))
'''


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("SCALE = 2.0", "SCALE = 3.0", True),  # a constant of a helper
        ("size=3", "size=4", True),
        ("truth=x,", "truth=-x,", True),
        ('section="1", latex="a"', 'section="1", latex="a", within=1e-6', True),
        ('section="1", latex="a"', 'section="1", latex="a", corrected="c"', True),
        ('latex="a"', 'latex="c"', False),
        ("The first.", "A sum.", False),
        ("direct.f(1.0)", "direct.f(2.0)", False),  # of another function
        ("from bythebook.models.sampling import direct\n", "", False),
    ],
)
def test_the_hash_of_an_equation_covers_what_it_uses(
    old: str, new: str, changes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hashed(text: str, folder: str) -> str:
        (tmp_path / folder / "fcml").mkdir(parents=True)
        (tmp_path / folder / "fcml" / "ch1.py").write_text(text)
        monkeypatch.setattr(equations, "FOLDER", tmp_path / folder)
        for cached in (equations.books, equations.book_equations, equation_code_hash):
            cached.cache_clear()
        try:
            return equation_code_hash("fcml.one")
        finally:
            for cached in (equations.books, equations.book_equations, equation_code_hash):
                cached.cache_clear()

    assert old in EQUATION_FILE
    before = hashed(EQUATION_FILE, "before")
    assert (hashed(EQUATION_FILE.replace(old, new), "after") != before) is changes
