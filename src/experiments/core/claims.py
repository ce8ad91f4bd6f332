"""Claims of a result, and the rules that turn them into verdicts.

A claim is an expression over the outcome (`expressions`), of one of these kinds:

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

A printed number is stored as the text in the book. Its digits are the tolerance: "1.358" is
reproduced by every value that rounds to 1.358.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import numpy as np

from bythebook.experiments.core import quantifiers
from bythebook.experiments.core.alignment import ExpressionError, single_value
from bythebook.experiments.core.equations import describe_gap, find_equation
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.evidence import format_count, format_label
from bythebook.experiments.core.expressions import evaluate, explain, quantity_names
from bythebook.experiments.core.latex_text import latex_to_text
from bythebook.experiments.core.outcome import Axis, Quantity
from bythebook.experiments.core.type_check import default_values
from bythebook.experiments.core.verdicts import (
    BY_CONSTRUCTION,
    BY_READING,
    CONSISTENT,
    CONSTRUCTION,
    DIFFERS,
    EQUATION,
    EQUATION_CATEGORIES,
    ERRATUM,
    HOLDS,
    ORIGINS,
    READING,
    REPRODUCED,
    UNTESTED,
    VERDICTS,
)
from bythebook.models.types import AnyArray

SIGNIFICANCE = 0.05  # a printed draw of smaller probability is not consistent with ours
# A claim about a drawn integer is weak if a larger fraction of the observed range would pass.
WEAK_PASS_FRACTION = 2 / 3
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


@dataclass(frozen=True)
class Verdict:
    """The verdict on one claim, with the values and the rule behind it."""

    says: str
    expression: str
    kind: str
    origin: str
    by: str | None
    printed: str | None
    computed: str
    value: float | bool | str | None
    evidence: str  # the evaluated sides of a statement
    because: str  # the source of a tolerance, a bound or a reference value
    verdict: str
    weak: bool  # a draw test that almost every value would pass
    expected: str
    judged: str  # the rule in words, with its numbers
    corrected: str | None
    instead: str | None
    cause: str | None
    why: str
    changed: str
    place: str
    grade: str  # book, original or stand-in data
    quantifier: str | None  # in how many draws the statement must be true
    reading: str  # the reading of the text under which the claim was judged
    let: dict[str, str]  # the named parts of the expression

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one that the file expects."""
        return self.verdict == self.expected

    @property
    def category(self) -> str:
        """The category in which it is counted: its verdict, `by construction` or `by reading`."""
        if self.kind == EQUATION:
            return EQUATION_CATEGORIES.get(self.verdict, self.verdict)
        if self.by == READING and self.verdict == ERRATUM:
            return BY_READING
        cannot_fail = self.by == CONSTRUCTION and self.verdict == REPRODUCED
        return BY_CONSTRUCTION if cannot_fail else self.verdict

    def to_json(self) -> dict[str, Any]:
        """The fields and properties, under the names of results.json."""
        return {**asdict(self), "standing": self.category, "as_expected": self.as_expected}


def judge(
    claim: Claim,
    outcome: Mapping[str, Quantity],
    grade: str,
    originals: Collection[str] = (),
    equations: Mapping[str, Mapping[str, Any]] | None = None,
) -> Verdict:
    """The verdict on one claim; `originals` names the data sets whose original file was used.

    `equations` has the recorded gaps of the equations that the claims name.
    """
    try:
        if claim.equation is not None:
            result = _judge_equation(claim.equation, equations or {})
        else:
            result = _RULES[claim.kind](claim, outcome)
    except ExpressionError as error:
        raise InputError(f"claim '{claim.says}': {error}") from None
    verdict, rule = result.verdict, result.rule
    if claim.needs is not None and claim.needs not in originals:
        verdict, rule = UNTESTED, f"requires the original file of {claim.needs}"
    elif claim.expect == UNTESTED:
        verdict, rule = UNTESTED, claim.why
    return Verdict(
        says=claim.says,
        expression=claim.expression,
        kind=claim.kind,
        origin=claim.origin,
        by=claim.by,
        printed=claim.printed_text,
        computed=result.computed,
        value=result.value,
        evidence=result.evidence,
        because=claim.because,
        verdict=verdict,
        weak=result.weak,
        expected=claim.expected_verdict(originals),
        judged=rule,
        corrected=_corrected(claim),
        instead=claim.instead,
        cause=claim.cause,
        why=claim.why,
        changed=claim.changed,
        place=claim.place,
        grade=grade,
        quantifier=claim.quantifier,
        reading=claim.reading,
        let=claim.let,
    )


class _RuleResult(NamedTuple):
    """The verdict of a rule, with the values that it used."""

    verdict: str
    computed: str
    value: Any
    evidence: str
    rule: str
    weak: bool = False


def _judge_number(claim: Claim, outcome: Mapping[str, Quantity]) -> _RuleResult:
    value = single_value(evaluate(claim.value or "", outcome, claim.let))
    if isinstance(value, Quantity | str):
        what = "text" if isinstance(value, str) else f"an array over {', '.join(value.dims)}"
        raise ExpressionError(f"{claim.value}: the value must be a number, not {what}")
    printed = claim.printed or ""
    if matches_printed(value, printed, claim.within):
        rule = (
            f"within {claim.within:g}: {claim.because}"
            if claim.within
            else "rounds to the printed digits"
        )
        return _RuleResult(REPRODUCED, format_value(value, printed), value, "", rule)
    corrected = claim.corrected
    if corrected is not None and matches_printed(value, corrected):
        rule = f"rounds to {corrected}, not to {printed}"
        return _RuleResult(ERRATUM, format_value(value, corrected, 3), value, "", rule)
    rule = f"does not round to {printed}"
    return _RuleResult(DIFFERS, format_value(value, printed), value, "", rule)


class _Condition(NamedTuple):
    """Whether a statement holds, with the numbers behind it and the rule."""

    holds: bool | None  # None if the draws do not decide
    evidence: str
    rule: str


def _judge_condition(claim: Claim, outcome: Mapping[str, Quantity]) -> _RuleResult:
    printed = _evaluate_condition(claim, claim.holds or "", outcome)
    rule = printed.rule
    if printed.holds:
        return _RuleResult(REPRODUCED, "holds", True, printed.evidence, rule)
    if printed.holds is None:
        return _RuleResult(DIFFERS, "not decided", None, printed.evidence, rule)
    if claim.instead is None:
        verdict = _failed_verdict(claim)
        return _RuleResult(verdict, "does not hold", False, printed.evidence, rule)
    corrected = _evaluate_condition(claim, claim.instead, outcome)
    verdict, holds = (ERRATUM, "holds") if corrected.holds else (DIFFERS, "does not hold either")
    evidence = f"{printed.evidence}; instead {corrected.evidence}"
    rule = f"{rule}; the corrected statement {holds}"
    return _RuleResult(verdict, "does not hold", False, evidence, rule)


def _evaluate_condition(claim: Claim, text: str, outcome: Mapping[str, Quantity]) -> _Condition:
    """The truth value of a statement, or of one about draws in the sense of `in`."""
    result = explain(text, outcome, claim.let)
    value = single_value(result.value)
    if isinstance(value, bool) and (claim.quantifier is None or text == claim.instead):
        return _Condition(value, result.text, claim.because or "the statement is checked")
    if claim.quantifier is None:
        raise ExpressionError(
            f"{text}: the statement must be true or false, not {_describe(value)};"
            " allowed: a comparison, or `value` with `printed` for a number"
        )
    truths = result.value
    if not isinstance(truths, Quantity) or truths.values.dtype.kind != "b":
        raise ExpressionError(
            f"{text}: `in` requires a comparison for each draw, not {_describe(value)};"
            " allowed: a comparison of arrays"
        )
    decision = quantifiers.decide(claim.quantifier, int(truths.values.sum()), truths.values.size)
    rule = f"{decision.rule}; {claim.because}" if claim.because else decision.rule
    return _Condition(decision.holds, format_count(truths), rule)


def _describe(value: Any) -> str:
    if isinstance(value, Quantity):
        return f"an array over {', '.join(value.dims)}"
    return format_value(value)


def _judge_table(claim: Claim, outcome: Mapping[str, Quantity]) -> _RuleResult:
    """The verdict on printed numbers along an axis: reproduced if all of them are."""
    count, wrong = 0, []
    for expression, row in claim.values.items():
        array = evaluate(expression, outcome, claim.let)
        axis = _table_axis(expression, array)
        numbers = array.values.reshape(-1)
        for text, printed in row.items():
            try:
                index = axis.index_of(parse_label(text, axis))
            except LookupError as error:
                raise ExpressionError(f"{expression}: {error.args[0]}") from None
            value = numbers[index].item()
            count += 1
            if not matches_printed(value, printed, claim.within):
                where = f"{axis.name.replace('_', ' ')} {format_label(axis.values[index].item())}"
                computed = format_value(value, printed)
                wrong.append(f"{expression} at {where}: {computed}, printed {printed}")
    summary = f"{count - len(wrong)} of {count} numbers"
    evidence = "; ".join([summary, *wrong])
    rule = (
        f"each within {claim.within:g}: {claim.because}"
        if claim.within
        else "each number rounds to the printed digits"
    )
    verdict = DIFFERS if wrong else REPRODUCED
    return _RuleResult(verdict, summary, not wrong, evidence, rule)


def _table_axis(expression: str, array: Any) -> Axis:
    """The axis of a row of a table: the only one, or the only one with more than one place."""
    if isinstance(array, Quantity):
        long = [axis for axis in array.axes if len(axis) > 1]
        axes = long if len(array.axes) > 1 else array.axes
        if len(axes) == 1 and array.values.dtype.kind in "fi":
            return axes[0]
    raise ExpressionError(f"{expression}: `values` requires numbers along one axis")


def parse_label(text: str, axis: Axis) -> Any:
    """A label of a table in the type of the axis: text, a boolean or a number."""
    if axis.values.dtype.kind == "U":
        return text
    if axis.values.dtype.kind == "b":
        return {"true": True, "false": False}.get(text.lower(), text)
    try:
        return int(text) if axis.values.dtype.kind == "i" else float(text)
    except ValueError:
        return text


def _judge_reading(claim: Claim, outcome: Mapping[str, Quantity]) -> _RuleResult:
    return _RuleResult(ERRATUM, "", None, "", "seen by reading; nothing is compared")


def _judge_draw(claim: Claim, outcome: Mapping[str, Quantity]) -> _RuleResult:
    repetitions = evaluate(claim.draws or "", outcome, claim.let)
    if not isinstance(repetitions, Quantity):
        raise ExpressionError(f"{claim.draws}: an array of repetitions is required, not one value")
    draws = np.asarray(repetitions.values, dtype=np.float64).ravel()
    test = draw_test(draws, claim.printed or "")
    verdict = CONSISTENT if test.chance >= SIGNIFICANCE else _failed_verdict(claim)
    median = float(np.median(draws))
    computed = f"{median:.6g} ({test.low:.6g} to {test.high:.6g})"
    rule = (
        f"values at most as probable as the printed one have probability {test.chance:.3g} in"
        f" {draws.size} repetitions; {test.low:.6g} to {test.high:.6g} would pass"
    )
    return _RuleResult(verdict, computed, median, "", rule, test.weak)


def _judge_equation(name: str, recorded: Mapping[str, Mapping[str, Any]]) -> _RuleResult:
    """The verdict on an equation, from its recorded gaps and the tolerance of its decorator."""
    entry = find_equation(name)
    if name not in recorded:
        raise ExpressionError(f"the run did not evaluate the equation {name}")
    gaps = recorded[name]
    gap, corrected_gap = gaps["gap"], gaps["corrected_gap"]
    verdict = entry.verdict(gap, corrected_gap)
    computed = f"{describe_gap(gap)} in {gaps['cases']} cases"
    if corrected_gap is not None:
        computed += f"; corrected: {describe_gap(corrected_gap)}"
    rule = f"relative difference of the sides, at most {entry.within:.0e} if the equation holds"
    if "reason" in gaps:
        rule = f"{rule}; {gaps['reason']}"
    return _RuleResult(verdict, computed, gap, "", rule)


def _corrected(claim: Claim) -> str | None:
    """The correction of the claim, or the corrected equation as text."""
    if not claim.equation:
        return claim.corrected
    formula = find_equation(claim.equation).corrected
    return None if formula is None else latex_to_text(formula)


class DrawTest(NamedTuple):
    """The comparison of a printed value with repetitions."""

    chance: float  # probability of values at least as improbable as the printed one
    low: float  # printed values from `low` to `high` would pass
    high: float
    weak: bool  # almost every printed value would pass


def draw_test(draws: AnyArray, printed: str) -> DrawTest:
    """Two-sided test of a printed value against repetitions of the draw.

    Integers: the total frequency of all values that are at most as frequent as the printed one,
    which must occur itself. Other numbers: twice the smaller tail probability, where each tail
    includes the rounding interval of the printed value.
    """
    target = parse_printed_number(printed) or Decimal(0)
    value, half = float(target), float(last_digit_unit(target) / 2)
    if target == target.to_integral_value() and np.all(draws == np.round(draws)):
        values, counts = np.unique(draws, return_counts=True)
        shares = counts / draws.size
        # Equal shares may differ by rounding.
        chances = np.array([shares[shares <= share * (1 + 1e-9)].sum() for share in shares])
        chance = float(chances[values == value].sum())
        passing = values[chances >= SIGNIFICANCE]
        span = values[-1] - values[0] + 1
        weak = len(passing) > 1 and len(passing) > WEAK_PASS_FRACTION * span
        return DrawTest(chance, float(passing[0]), float(passing[-1]), bool(weak))
    tails = np.mean(draws <= value + half), np.mean(draws >= value - half)
    low, high = np.quantile(draws, [SIGNIFICANCE / 2, 1 - SIGNIFICANCE / 2])
    weak = high - low > abs(np.median(draws))
    return DrawTest(min(1.0, 2 * float(min(tails))), float(low), float(high), bool(weak))


_RULES = {
    "number": _judge_number,
    "statement": _judge_condition,
    "draw": _judge_draw,
    "table": _judge_table,
    READING: _judge_reading,
}


def _failed_verdict(claim: Claim) -> str:
    """The verdict on a claim that fails: an erratum if the file has a correction."""
    return ERRATUM if claim.corrected else DIFFERS


def parse_printed_number(text: str) -> Decimal | None:
    """A number as a book prints it: `36.416`, `-0.0133`, `1.5204e-6`, `12,345`."""
    try:
        value = Decimal(text.replace(",", "").replace("−", "-").strip())
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def matches_printed(value: Any, printed: str, within: float | None = None) -> bool:
    """Whether a value rounds to the printed digits; ties may round either way."""
    target = parse_printed_number(printed)
    if target is None or isinstance(value, bool | str) or not math.isfinite(value):
        return False
    if isinstance(value, int) and within is None:
        exponent = int(target.as_tuple().exponent)
        if exponent <= 0:
            return Decimal(value) == target
    half = Decimal(str(within)) if within is not None else last_digit_unit(target) / 2
    decimal = Decimal(repr(value))  # the shortest decimal, so that ties are exact
    return abs(decimal - target) <= half


def last_digit_unit(printed: Decimal) -> Decimal:
    """One unit in the last printed digit: 0.001 for 36.416, 1e-10 for 1.5204e-6."""
    return Decimal(1).scaleb(int(printed.as_tuple().exponent))


def format_value(value: Any, printed: str | None = None, extra: int = 2) -> str:
    """A value as text with `extra` digits more than the printed one, else with six digits."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | str):
        return str(value)
    target = parse_printed_number(printed) if printed is not None else None
    if target is None or not np.isfinite(value):
        return f"{value:.6g}"
    digits = -int(target.as_tuple().exponent) + extra
    if target != 0 and (target.adjusted() < -3 or target.adjusted() > 6):
        return f"{value:.{max(digits + target.adjusted(), 0)}e}"
    return f"{value:.{max(digits, 0)}f}"
