"""Claims of a result, and the rules that turn them into verdicts.

A claim is an expression over the outcome (`expressions`), of one of three kinds:

    value with printed     a printed number: the value rounds to the printed digits
    holds                  a printed statement: the expression is true
    draws with printed     one random draw of the book, compared with our repetitions: values at
                           least as improbable as the printed one have probability 5 % or more

A printed number is stored as the text in the book. Its digits are the tolerance: "1.358" is
reproduced by every value that rounds to 1.358.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import numpy as np

from bythebook.experiments.core.alignment import ExpressionError
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.explanations import Explanation, explain
from bythebook.experiments.core.expressions import evaluate, quantity_names
from bythebook.experiments.core.outcome import Quantity
from bythebook.experiments.core.verdicts import (
    BY_CONSTRUCTION,
    CONSISTENT,
    CONSTRUCTION,
    DIFFERS,
    ERRATUM,
    ORIGINS,
    REPRODUCED,
    UNTESTED,
    VERDICTS,
)
from bythebook.models.types import AnyArray

SIGNIFICANCE = 0.05  # a printed draw of smaller probability is not consistent with ours
# A claim about a drawn integer is weak if a larger fraction of the observed range would pass.
WEAK_PASS_FRACTION = 2 / 3


@dataclass
class Claim:
    """A number or statement of a text that a computer can check."""

    says: str = ""  # the claim as a sentence, in our words
    value: str | None = None  # an expression: the computed value of a printed number
    holds: str | None = None  # or an expression that is true if the statement holds
    draws: str | None = None  # or an expression: repetitions of a draw that the book reports
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

    def __post_init__(self) -> None:
        lines = list(self._problems())
        if lines:
            raise InputError([f"claim '{self.says or self.expression}': {line}" for line in lines])

    @property
    def expression(self) -> str:
        """The expression of `value`, `holds` or `draws`."""
        return self.value or self.holds or self.draws or ""

    @property
    def kind(self) -> str:
        """`number`, `statement` or `draw`."""
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
        return self.expect or (CONSISTENT if self.draws else REPRODUCED)

    def _problems(self) -> Iterator[str]:
        if not self.says:
            yield "`says` is missing; allowed: the claim as a sentence"
        kinds = [kind for kind in ("value", "holds", "draws") if getattr(self, kind) is not None]
        if len(kinds) != 1:
            yield "exactly one of `value`, `holds` and `draws` is required"
        elif self.holds is None and self.printed is None:
            yield f"`{kinds[0]}` requires the `printed` value"
        elif self.holds is not None and self.printed is not None:
            yield "`holds` does not take `printed`; `value` does"
        for expression in (self.expression or "0", self.instead or "0"):
            try:
                quantity_names(expression)
            except ExpressionError as error:
                yield str(error)
        if self.expect is not None and self.expect not in VERDICTS:
            yield f"expect={self.expect} is not a verdict; allowed: {', '.join(VERDICTS)}"
        if self.origin not in ORIGINS:
            yield f"origin={self.origin} is unknown; allowed: {', '.join(ORIGINS)}"
        if self.by not in (None, CONSTRUCTION):
            yield f"by={self.by} is unknown; allowed: {CONSTRUCTION}"
        for text in (self.printed, self.corrected if self.holds is None else None):
            if text is not None and parse_printed_number(text) is None:
                yield f"'{text}' is not a valid printed number; allowed: such as 1,234.5 or 2e-6"
        if self.within is not None and not (self.within > 0 and self.because):
            yield "`within` must be positive and requires its reason in `because`"
        if self.expect == ERRATUM and not (self.corrected and (self.cause or self.why)):
            yield "an erratum requires `corrected`, and `cause` or `why`"
        if self.cause is not None and self.expect != ERRATUM:
            yield "`cause` requires `expect: erratum`"
        if self.instead is not None and (self.holds is None or self.expect != ERRATUM):
            yield "`instead` requires `holds` and `expect: erratum`"
        if self.expect in (DIFFERS, UNTESTED) and not self.why:
            yield f"`expect: {self.expect}` requires `why`"


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

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one that the file expects."""
        return self.verdict == self.expected

    @property
    def category(self) -> str:
        """The category in which it is counted: its verdict, or `by construction`."""
        cannot_fail = self.by == CONSTRUCTION and self.verdict == REPRODUCED
        return BY_CONSTRUCTION if cannot_fail else self.verdict

    def to_json(self) -> dict[str, Any]:
        """The fields and properties, under the names of results.json."""
        return {**asdict(self), "standing": self.category, "as_expected": self.as_expected}


def judge(
    claim: Claim, outcome: Mapping[str, Quantity], grade: str, originals: Collection[str] = ()
) -> Verdict:
    """The verdict on one claim; `originals` names the data sets whose original file was used."""
    try:
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
        printed=claim.printed,
        computed=result.computed,
        value=result.value,
        evidence=result.evidence,
        because=claim.because,
        verdict=verdict,
        weak=result.weak,
        expected=claim.expected_verdict(originals),
        judged=rule,
        corrected=claim.corrected,
        instead=claim.instead,
        cause=claim.cause,
        why=claim.why,
        changed=claim.changed,
        place=claim.place,
        grade=grade,
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
    value = evaluate(claim.value or "", outcome)
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


def _judge_condition(claim: Claim, outcome: Mapping[str, Quantity]) -> _RuleResult:
    printed = _evaluate_condition(claim.holds or "", outcome)
    rule = claim.because or "the statement is checked"
    if printed.value:
        return _RuleResult(REPRODUCED, "holds", True, printed.text, rule)
    if claim.instead is None:
        return _RuleResult(_failed_verdict(claim), "does not hold", False, printed.text, rule)
    corrected = _evaluate_condition(claim.instead, outcome)
    verdict, holds = (ERRATUM, "holds") if corrected.value else (DIFFERS, "does not hold either")
    evidence = f"{printed.text}; instead {corrected.text}"
    rule = f"{rule}; the corrected statement {holds}"
    return _RuleResult(verdict, "does not hold", False, evidence, rule)


def _evaluate_condition(text: str, outcome: Mapping[str, Quantity]) -> Explanation:
    """The truth value of a statement, with its evaluated sides."""
    result = explain(text, outcome)
    if not isinstance(result.value, bool):
        raise ExpressionError(
            f"{text}: the statement must be true or false, not {result.text};"
            " allowed: a comparison, or `value` with `printed` for a number"
        )
    return result


def _judge_draw(claim: Claim, outcome: Mapping[str, Quantity]) -> _RuleResult:
    repetitions = evaluate(claim.draws or "", outcome)
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


_RULES = {"number": _judge_number, "statement": _judge_condition, "draw": _judge_draw}


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
