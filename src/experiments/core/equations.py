"""Printed equations: their registry, their evaluation, and the verdict on the gap of their sides.

An equation is a function of `src/experiments/equations/<book>/<chapter>.py` that draws a random
case and returns two sides, which share nothing but the case:

    @equation("10.69", section="10.2.1", latex=...)
    def expected_mixing(rng: Generator) -> Sides:
        '''The expected mixing coefficients.'''
        ...
        return Sides(truth=..., printed=...)

The registry reads the decorators from the source files, so that a list of equations imports none.
A function is imported when it is evaluated. Its name is that of the book and the function:
`prml.expected_mixing`.
"""

import ast
import hashlib
import importlib
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.suggestions import did_you_mean
from bythebook.experiments.core.verdicts import DIFFERS, ERRATUM, HOLDS

PACKAGE = "bythebook.experiments.equations"
FOLDER = Path(__file__).parents[1] / "equations"
CASES = 20
ROUNDING = 1e-9  # the default tolerance, a relative gap
_NUMBER = re.compile(r"(\d+(?:\.\d+)*)([a-z]?)(?: to (\d+(?:\.\d+)*))?")  # not of an exercise


class Sides(NamedTuple):
    """The two sides of an equation, and the corrected side of a misprinted one.

    A side is a number, an array, or a tuple of them. Each entry of a tuple is compared on a scale
    of its own.
    """

    truth: Any  # by an independent route
    printed: Any  # the formula of the page
    corrected: Any = None


Function = Callable[..., Sides]


def equation(
    number: str,
    *,
    section: str,
    latex: str,
    corrected: str | None = None,
    cause: str | None = None,
    within: float = ROUNDING,
) -> Callable[[Function], Function]:
    """Mark a function as an equation; the registry reads the arguments, which must be literals.

    `latex` is the printed form and `corrected` the corrected one. `cause` names the entry of the
    errata ledger.
    """
    return lambda function: function


@dataclass(frozen=True)
class Equation:
    """A printed equation: where it is in its book, its formula, and the function to evaluate."""

    book: str
    module: str  # of the book's package: ch10
    function: str
    line: int
    number: str  # as printed: 10.58, 10.60 to 10.63
    says: str
    section: str
    latex: str
    corrected: str | None = None
    cause: str | None = None
    within: float = ROUNDING

    @property
    def name(self) -> str:
        """Book and function: `prml.expected_mixing`."""
        return f"{self.book}.{self.function}"

    @property
    def path(self) -> Path:
        """The source file."""
        return FOLDER / self.book / f"{self.module}.py"

    @property
    def expected(self) -> str:
        """The verdict that the decorator declares: an erratum if there is a corrected form."""
        return HOLDS if self.corrected is None else ERRATUM

    @property
    def source(self) -> str:
        """The source of the function, with its decorator."""
        return next(text for name, text in _sources(self.path) if name == self.function)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Every printed number; `10.60 to 10.62` are three."""
        return frozenset(_expand(self.number))

    def verdict(self, gap: float, corrected_gap: float | None) -> str:
        """`HOLDS`, `ERRATUM` if only the corrected form holds, else `DIFFERS`."""
        if gap <= self.within:
            return HOLDS
        confirmed = corrected_gap is not None and corrected_gap <= self.within
        return ERRATUM if self.corrected is not None and confirmed else DIFFERS


def _expand(number: str) -> Iterator[str]:
    matches = filter(None, map(_NUMBER.fullmatch, number.split(", ")))
    for first, letter, last in (match.groups() for match in matches):
        yield first + letter
        prefix, _, start = first.rpartition(".")
        if last and last.rpartition(".")[0] == prefix:
            for value in range(int(start) + 1, int(last.rpartition(".")[2]) + 1):
                yield f"{prefix}.{value}" if prefix else str(value)


@cache
def books() -> tuple[str, ...]:
    """The books that have equations."""
    return tuple(sorted({path.parent.name for path in FOLDER.glob("*/[!_]*.py")}))


@cache
def book_equations(book: str) -> dict[str, Equation]:
    """The equations of a book by name, in the order of its files."""
    found: dict[str, Equation] = {}
    for path in sorted((FOLDER / book).glob("[!_]*.py")):
        for entry in _read(path, book):
            if entry.name in found:
                raise InputError(f"{path.name}: the equation {entry.name} is defined twice")
            found[entry.name] = entry
    return found


def all_equations() -> dict[str, Equation]:
    """The equations of all books by name."""
    return {name: entry for book in books() for name, entry in book_equations(book).items()}


def find_equation(name: str) -> Equation:
    """The equation of a name such as `prml.expected_mixing`."""
    book = name.partition(".")[0]
    known = book_equations(book) if book in books() else all_equations()
    if name not in known:
        hint = did_you_mean(name, list(known))
        raise InputError(
            f"there is no equation '{name}'{hint}; allowed: a name that `bythebook equations` shows"
        )
    return known[name]


def select_equations(words: list[str]) -> list[Equation]:
    """The equations of some books, chapters, sections, numbers or names; all without words.

    `prml`, `prml/10`, `prml/10.7`, `prml:10.222`, `prml.expected_mixing`
    """
    if not words:
        return list(all_equations().values())
    chosen: dict[str, Equation] = {}
    for word in words:
        selected = list(_selected(word))
        if not selected:
            raise InputError(
                f"there is no equation '{word}'; allowed: <book>, <book>/<section>,"
                f" <book>:<number>, <book>.<name>; books: {', '.join(books())}"
            )
        chosen |= {entry.name: entry for entry in selected}
    return list(chosen.values())


def _selected(word: str) -> Iterator[Equation]:
    book, separator, rest = re.fullmatch(r"(\w*)([/:.]?)(.*)", word, re.DOTALL).groups()  # type: ignore[union-attr]
    for entry in book_equations(book).values() if book in books() else ():
        section = f"{entry.section}."
        if (
            not separator
            or (separator == "/" and section.startswith(f"{rest}."))
            or (separator == ":" and rest in entry.numbers)
            or (separator == "." and rest == entry.function)
        ):
            yield entry


def _read(path: Path, book: str) -> Iterator[Equation]:
    """The equations of a source file, from its syntax tree."""
    for node in _tree(path).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "equation":
                says = (ast.get_docstring(node) or "").partition("\n")[0]
                try:
                    (number,) = map(ast.literal_eval, mark.args)
                    fields = {str(k.arg): ast.literal_eval(k.value) for k in mark.keywords}
                    yield Equation(
                        book, path.stem, node.name, node.lineno, number, says.rstrip("."), **fields
                    )
                except (TypeError, ValueError) as error:
                    raise InputError(
                        f"{path.name}: the decorator of {node.name} could not be read: {error};"
                        " allowed: literals for number, section, latex, corrected, cause, within"
                    ) from error


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


def _sources(path: Path) -> Iterator[tuple[str, str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in _tree(path).body:
        if isinstance(node, ast.FunctionDef):
            first = min(node.lineno, *(mark.lineno for mark in node.decorator_list), node.lineno)
            yield node.name, "\n".join(lines[first - 1 : node.end_lineno])


def describe_gap(gap: float) -> str:
    """A gap as text: `gap 9.1e-15`, `no difference`."""
    return f"gap {gap:.1e}" if gap else "no difference"


class Evaluation(NamedTuple):
    """The largest relative gaps in some random cases."""

    gap: float  # of the printed form; infinite if it could not be evaluated
    corrected_gap: float | None  # of the corrected form, if there is one
    cases: int
    reason: str = ""  # of an infinite gap

    @property
    def content(self) -> dict[str, Any]:
        """The fields as they are recorded, without the reason if there is none."""
        fields = self._asdict()
        return fields if self.reason else {k: v for k, v in fields.items() if k != "reason"}


def evaluate(entry: Equation, cases: int = CASES, seed: int = 0) -> Evaluation:
    """Evaluate an equation in random cases, which its name and the seed determine."""
    try:
        module = importlib.import_module(f"{PACKAGE}.{entry.book}.{entry.module}")
        return evaluate_function(entry, getattr(module, entry.function), cases, seed)
    except (ImportError, SyntaxError) as error:
        raise InputError(f"the equation {entry.name} could not be imported: {error}") from error


def evaluate_function(
    entry: Equation, function: Function, cases: int = CASES, seed: int = 0
) -> Evaluation:
    """Evaluate a function in place of the equation's own, in the same random cases."""
    from numpy.random import default_rng  # lists of equations need no NumPy

    digest = hashlib.sha256(entry.name.encode()).digest()[:8]
    gap, corrected_gap = 0.0, None if entry.corrected is None else 0.0
    for case in range(cases):
        rng = default_rng([int.from_bytes(digest), seed, case])
        try:
            sides = function(rng)
            gap = max(gap, _gap(sides.printed, sides.truth))
            if (sides.corrected is None) != (entry.corrected is None):
                raise ValueError("a corrected side and a corrected form belong together")
            if corrected_gap is not None:
                corrected_gap = max(corrected_gap, _gap(sides.corrected, sides.truth))
        except (MemoryError, InputError):
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            reason = f"case {case}: {type(error).__name__}: {error}"
            return Evaluation(math.inf, corrected_gap and math.inf, case + 1, reason)
    return Evaluation(gap, corrected_gap, cases)


def _gap(side: Any, truth: Any) -> float:
    """The largest difference relative to the largest absolute value of the truth."""
    import numpy as np

    parts, truths = (value if isinstance(value, tuple) else (value,) for value in (side, truth))
    worst = 0.0
    for part, true in zip(parts, truths, strict=True):
        a, b = np.asarray(part, dtype=np.float64), np.asarray(true, dtype=np.float64)
        if a.shape != b.shape or not a.size:
            raise ValueError(f"the sides have the shapes {a.shape} and {b.shape}")
        if not (np.isfinite(a).all() and np.isfinite(b).all()):
            raise ValueError("a side is not finite")
        worst = max(worst, float(np.abs(a - b).max() / (np.abs(b).max() or 1.0)))
    return worst
