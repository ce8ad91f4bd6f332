"""The rules that turn claims into verdicts."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from bythebook.experiments.core import quantifiers
from bythebook.experiments.core.alignment import ExpressionError, single_value
from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.equations import describe_gap, find_equation
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.evidence import format_count, format_label
from bythebook.experiments.core.expressions import evaluate, explain
from bythebook.experiments.core.latex_text import latex_to_text
from bythebook.experiments.core.outcome import Axis, Quantity
from bythebook.experiments.core.printed_draws import SIGNIFICANCE, draw_test
from bythebook.experiments.core.printed_numbers import format_value, matches_printed
from bythebook.experiments.core.verdicts import (
    BY_CONSTRUCTION,
    BY_READING,
    CONSISTENT,
    CONSTRUCTION,
    DIFFERS,
    EQUATION,
    EQUATION_CATEGORIES,
    ERRATUM,
    READING,
    REPRODUCED,
    UNTESTED,
)


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
        grade=claim.data_grade(grade),
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
