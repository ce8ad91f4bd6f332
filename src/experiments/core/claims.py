"""Claims of a result: their fields, and what a valid claim has.

A claim is an expression over the outcome (`expressions`), of one of these kinds, which `judging`
turns into verdicts:

    value with printed     a printed number: the value rounds to the printed digits
    holds                  a printed statement: the expression is true
    draws with printed     one random draw of the book, compared with our repetitions: values at
                           least as improbable as the printed one have probability 5 % or more
    values                 a printed table: each value along an axis rounds to its printed digits
    equation               a printed equation (`equations`): its recorded gap is within its
                           tolerance
    by: reading            an erratum that a reader sees without a run

With `in`, a statement about draws holds if it is true in enough of them (`quantifiers`). `let` has
the named parts of the expressions (`let`).
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from bythebook.experiments.core import quantifiers
from bythebook.experiments.core.alignment import ExpressionError
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.expressions import quantity_names
from bythebook.experiments.core.printed_numbers import parse_printed_number
from bythebook.experiments.core.type_check import default_values
from bythebook.experiments.core.verdicts import (
    CONSISTENT,
    CONSTRUCTION,
    DIFFERS,
    EQUATION,
    ERRATUM,
    HOLDS,
    ORIGINS,
    READING,
    REPRODUCED,
    UNTESTED,
    VERDICTS,
)
from bythebook.models.data_sets.kinds import BOOK, GRADES

_KINDS = ("value", "values", "holds", "draws", "equation")
_EQUATION_FIELDS = ("says", "equation", "expect", "cause", "why", "changed", "place")


@dataclass
class Claim:
    """A number or statement of a text that a computer can check."""

    says: str = ""  # the claim as a sentence, in our words
    value: str | None = None  # an expression: the computed value of a printed number
    holds: str | None = None  # or an expression that is true if the statement holds
    draws: str | None = None  # or an expression: repetitions of a draw that the book reports
    equation: str | None = None  # or the name of a printed equation: `prml.expected_mixing`
    printed: str | None = None
    within: float | None = None  # a tolerance wider than the printed digits; requires `because`
    because: str = ""  # the source of a tolerance, a bound or a reference value
    corrected: str | None = None  # erratum: the correct value or statement
    instead: str | None = None  # erratum of a statement: an expression, true if it is corrected
    cause: str | None = None  # erratum: the name of its file in conf/errata/<book>
    why: str = ""  # erratum, differs, untested: the reason, as far as it is known
    expect: str | None = None  # the expected verdict; reproduced or consistent by default
    origin: str = "printed"
    by: str | None = None  # `construction`: the claim cannot fail, and is counted separately
    needs: str | None = None  # a data set: without its original file the claim is untested
    changed: str = ""  # a change of the claim after its first run, and the reason
    place: str = ""  # a second text with this claim: its book and section, `notes 3.3.2`
    # Printed numbers along an axis, by quantity or expression and by label.
    values: dict[str, dict[str, str]] = field(default_factory=dict)
    quantifier: str | None = None  # `in`: in how many draws `holds` must be true
    grade: str | None = None  # of the data that decide it, if it is not the weakest of the run
    reading: str = ""  # the reading of the text under which the claim is judged
    let: dict[str, str] = field(default_factory=dict)  # the lines of `let` that it uses

    def __post_init__(self) -> None:
        lines = list(self._problems())
        if lines:
            raise InputError([f"claim '{self.says or self.expression}': {line}" for line in lines])

    @property
    def expression(self) -> str:
        """The expression of `value`, `holds` or `draws`, or the name of the equation.

        Of a table, the names of its rows; empty for an erratum by reading.
        """
        single = self.value or self.holds or self.draws or self.equation
        return single or ", ".join(self.values)

    @property
    def expressions(self) -> list[str]:
        """All expressions over the outcome."""
        return [*filter(None, (self.value, self.holds, self.draws, self.instead)), *self.values]

    @property
    def quantities(self) -> set[str]:
        """The quantities in its expressions."""
        return {name for text in self.expressions for name in quantity_names(text, self.let)}

    @property
    def printed_text(self) -> str | None:
        """The printed number, or those of a table."""
        numbers = [number for row in self.values.values() for number in row.values()]
        return self.printed if not numbers else "; ".join(numbers)

    @property
    def kind(self) -> str:
        """`number`, `statement`, `draw`, `table`, `equation` or `reading`."""
        if self.equation is not None:
            return EQUATION
        if self.by == READING:
            return READING
        if self.values:
            return "table"
        if self.draws is not None:
            return "draw"
        return "number" if self.value is not None else "statement"

    @property
    def source_book(self) -> str:
        """The book of `place`; empty for a claim of the experiment's own book."""
        return self.place.partition(" ")[0]

    def data_grade(self, run: str) -> str:
        """The grade of the data that decide the claim; `run` is the weakest grade of its run.

        An equation, a claim by construction and an erratum by reading need no data.
        """
        needs_no_data = self.equation is not None or self.by is not None
        return self.grade or (BOOK if needs_no_data else run)

    def expected_verdict(self, originals: Collection[str] = ()) -> str:
        """The verdict that the file expects if these data sets' original files are available."""
        if self.needs is not None and self.needs not in originals:
            return UNTESTED
        if self.equation is not None:
            return self.expect or HOLDS
        if self.by == READING:
            return ERRATUM
        return self.expect or (CONSISTENT if self.draws else REPRODUCED)

    def _problems(self) -> Iterator[str]:
        if not self.says:
            yield "`says` is missing; allowed: the claim as a sentence"
        if self.equation is not None:
            yield from self._equation_problems()
            return
        kinds = [name for name in _KINDS if getattr(self, name)]
        if self.by == READING:
            if kinds or self.expect not in (None, ERRATUM) or not self.corrected:
                yield "`by: reading` requires `corrected` and no expression; allowed: an erratum"
        elif len(kinds) != 1:
            yield "exactly one of `value`, `values`, `holds`, `draws` and `equation` is required"
        elif kinds[0] in ("value", "draws") and self.printed is None:
            yield f"`{kinds[0]}` requires the `printed` value"
        elif self.holds is not None and self.printed is not None:
            yield "`holds` does not take `printed`; `value` does"
        elif self.values and (self.printed or self.corrected):
            yield "`values` has the printed numbers; allowed: an erratum as a claim of its own"
        for expression in self.expressions:
            try:
                quantity_names(expression, self.let)
            except ExpressionError as error:
                yield str(error)
        if self.quantifier is not None and self.quantifier not in quantifiers.WORDS:
            yield f"in={self.quantifier} is unknown; allowed: {', '.join(quantifiers.WORDS)}"
        if self.quantifier is not None and self.holds is None:
            yield "`in` requires `holds`"
        if self.expect is not None and self.expect not in VERDICTS:
            yield f"expect={self.expect} is not a verdict; allowed: {', '.join(VERDICTS)}"
        if self.origin not in ORIGINS:
            yield f"origin={self.origin} is unknown; allowed: {', '.join(ORIGINS)}"
        if self.by not in (None, CONSTRUCTION, READING):
            yield f"by={self.by} is unknown; allowed: {CONSTRUCTION}, {READING}"
        is_number = self.holds is None and self.by != READING
        cells = [number for row in self.values.values() for number in row.values()]
        for text in (self.printed, self.corrected if is_number else None, *cells):
            if text is not None and parse_printed_number(text) is None:
                yield f"'{text}' is not a valid printed number; allowed: such as 1,234.5 or 2e-6"
        if self.grade not in (None, *GRADES):
            yield f"grade={self.grade} is unknown; allowed: {', '.join(GRADES)}"
        if self.within is not None and not (self.within > 0 and self.because):
            yield "`within` must be positive and requires its reason in `because`"
        expected = self.expected_verdict()
        if expected == ERRATUM and not (self.corrected and (self.cause or self.why)):
            yield "an erratum requires `corrected`, and `cause` or `why`"
        if self.cause is not None and ERRATUM not in (self.expect, expected):
            yield "`cause` requires `expect: erratum`"
        if self.instead is not None and (self.holds is None or self.expect != ERRATUM):
            yield "`instead` requires `holds` and `expect: erratum`"
        if self.expect in (DIFFERS, UNTESTED) and not self.why:
            yield f"`expect: {self.expect}` requires `why`"

    def _equation_problems(self) -> Iterator[str]:
        """The problems of a claim that names an equation; its decorator has all other facts."""
        empty = default_values(Claim)
        for name, value in vars(self).items():
            if name not in _EQUATION_FIELDS and value != empty[name]:
                allowed = ", ".join(_EQUATION_FIELDS)
                yield f"a claim with `equation` does not take `{name}`; allowed: {allowed}"
        if self.expect not in (None, ERRATUM, DIFFERS):
            yield f"expect={self.expect} is not allowed; allowed: {ERRATUM}, {DIFFERS}"
        if self.expect == DIFFERS and not self.why:
            yield f"`expect: {DIFFERS}` requires `why`"
        if self.cause is not None and self.expect != ERRATUM:
            yield "`cause` requires `expect: erratum`"
