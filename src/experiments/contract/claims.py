"""Claims and verdicts: what the book says, and what came of it.

A claim is an expression over the outcome (`expressions`), in one of three kinds:

    value with printed     a printed number: the value rounds to the printed digits
    holds                  a statement: the expression is true
    draws with printed     one random draw, which we cannot have: a value at least as improbable
                           as the printed one has a chance of 5 % or more in our repetitions

A printed value is kept as the string in the book, and its digits are the tolerance: "1.358" is
reproduced by what rounds to 1.358.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import numpy as np

from experiments.contract.errors import BadInput
from experiments.contract.evidence import Evidence, evidence
from experiments.contract.expressions import evaluate, names
from experiments.contract.labelled import BadExpression
from experiments.contract.outcome import Quantity
from experiments.contract.verdicts import (
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
from models.types import AnyArray

ALPHA = 0.05  # a draw less probable than this is not consistent with ours
WEAK_SHARE = 2 / 3  # of the whole numbers seen: a draw claim that so many would pass is weak


@dataclass
class Claim:
    """One thing the book says that a computer can check."""

    says: str = ""  # the claim in our words
    value: str | None = None  # an expression: a number that the book prints
    holds: str | None = None  # or one that is true
    draws: str | None = None  # or repetitions, where the book's own draw cannot be had
    printed: str | None = None
    within: float | None = None  # a tolerance wider than the printed digits; needs `because`
    because: str = ""  # where a tolerance or a bound comes from
    corrected: str | None = None  # erratum: what the book should have printed
    instead: str | None = None  # a statement's erratum: an expression, true if that is right
    cause: str | None = None  # erratum: its entry in the ledger, which all its places share
    why: str = ""  # erratum, differs, untested: what we know of the reason
    expect: str | None = None  # the verdict this file expects; reproduced or consistent by default
    origin: str = "printed"
    by: str | None = None  # `construction`: it cannot fail, and is counted apart
    needs: str | None = None  # the data set without whose original file it is untested
    changed: str = ""  # what was changed after a first look at the values, and why
    place: str = ""  # a second text that says it: the book and where, `notes 3.3.2`

    def __post_init__(self) -> None:
        found = list(self._problems())
        if found:
            raise BadInput([f"claim '{self.says or self.expression}': {line}" for line in found])

    @property
    def expression(self) -> str:
        return self.value or self.holds or self.draws or ""

    @property
    def kind(self) -> str:
        if self.draws is not None:
            return "draw"
        return "number" if self.value is not None else "statement"

    @property
    def place_book(self) -> str:
        """The second text that says it; nothing if it is the experiment's own."""
        return self.place.partition(" ")[0]

    def expected(self, originals: Collection[str] = ()) -> str:
        """The verdict that the file expects, with these original files at hand."""
        if self.needs is not None and self.needs not in originals:
            return UNTESTED
        return self.expect or (CONSISTENT if self.draws else REPRODUCED)

    def _problems(self) -> Iterator[str]:
        if not self.says:
            yield "says nothing; `says` states the claim in words"
        stated = [kind for kind in ("value", "holds", "draws") if getattr(self, kind) is not None]
        if len(stated) != 1:
            yield "needs exactly one of `value`, `holds` and `draws`, an expression"
        elif self.holds is None and self.printed is None:
            yield f"`{stated[0]}` needs the `printed` value"
        elif self.holds is not None and self.printed is not None:
            yield "`holds` is a statement and takes no `printed`; `value` does"
        for expression in (self.expression or "0", self.instead or "0"):
            try:
                names(expression)
            except BadExpression as error:
                yield str(error)
        if self.expect is not None and self.expect not in VERDICTS:
            yield f"expect={self.expect} is not a verdict; allowed: {', '.join(VERDICTS)}"
        if self.origin not in ORIGINS:
            yield f"origin={self.origin} is unknown; allowed: {', '.join(ORIGINS)}"
        if self.by not in (None, CONSTRUCTION):
            yield f"by={self.by} is unknown; allowed: {CONSTRUCTION}"
        for text in (self.printed, self.corrected if self.holds is None else None):
            if text is not None and number(text) is None:
                yield f"'{text}' is not a number as a book would print it"
        if self.within is not None and not (self.within > 0 and self.because):
            yield "`within` must be positive and needs its reason in `because`"
        if self.expect == ERRATUM and not (self.corrected and (self.cause or self.why)):
            yield "an erratum needs `corrected`, and `cause` or `why`"
        if self.cause is not None and self.expect != ERRATUM:
            yield "`cause` is an erratum's, and needs `expect: erratum`"
        if self.instead is not None and (self.holds is None or self.expect != ERRATUM):
            yield "`instead` is of a statement (`holds`) with `expect: erratum`"
        if self.expect in (DIFFERS, UNTESTED) and not self.why:
            yield f"`expect: {self.expect}` needs `why`"


@dataclass(frozen=True)
class Verdict:
    """What came of one claim, with all a reader needs to see why."""

    says: str
    expression: str
    kind: str
    origin: str
    by: str | None
    printed: str | None
    computed: str
    value: float | bool | str | None
    evidence: str  # the evaluated sides of a statement
    because: str  # where a tolerance or a bound comes from
    verdict: str
    weak: bool  # a draw that nearly anything would have passed
    expected: str
    judged: str  # how: the rule in words, with the numbers that entered it
    corrected: str | None
    instead: str | None
    cause: str | None
    why: str
    changed: str
    place: str
    grade: str  # book, original or stand-in data

    @property
    def as_expected(self) -> bool:
        return self.verdict == self.expected

    @property
    def standing(self) -> str:
        """Where it is counted: its verdict, or apart if it could not have failed."""
        apart = self.by == CONSTRUCTION and self.verdict == REPRODUCED
        return BY_CONSTRUCTION if apart else self.verdict

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "standing": self.standing, "as_expected": self.as_expected}


def judge(
    claim: Claim, outcome: Mapping[str, Quantity], grade: str, originals: Collection[str] = ()
) -> Verdict:
    """Hold one claim against an outcome."""
    try:
        found = _RULES[claim.kind](claim, outcome)
    except BadExpression as error:
        raise BadInput(f"claim '{claim.says}': {error}") from None
    verdict, judged = found.verdict, found.how
    if claim.needs is not None and claim.needs not in originals:
        verdict, judged = UNTESTED, f"needs the original file of {claim.needs}"
    elif claim.expect == UNTESTED:
        verdict, judged = UNTESTED, claim.why
    return Verdict(
        says=claim.says,
        expression=claim.expression,
        kind=claim.kind,
        origin=claim.origin,
        by=claim.by,
        printed=claim.printed,
        computed=found.computed,
        value=found.value,
        evidence=found.evidence,
        because=claim.because,
        verdict=verdict,
        weak=found.weak,
        expected=claim.expected(originals),
        judged=judged,
        corrected=claim.corrected,
        instead=claim.instead,
        cause=claim.cause,
        why=claim.why,
        changed=claim.changed,
        place=claim.place,
        grade=grade,
    )


class _Judged(NamedTuple):
    """What a rule found."""

    verdict: str
    computed: str
    value: Any
    evidence: str
    how: str
    weak: bool = False


def _number(claim: Claim, outcome: Mapping[str, Quantity]) -> _Judged:
    value = evaluate(claim.value or "", outcome)
    if isinstance(value, Quantity | str):
        what = "a word" if isinstance(value, str) else f"an array over {', '.join(value.names)}"
        raise BadExpression(f"{claim.value}: a number is needed, and this is {what}")
    printed = claim.printed or ""
    if rounds_to(value, printed, claim.within):
        how = (
            f"within {claim.within:g}: {claim.because}" if claim.within else "to the printed digits"
        )
        return _Judged(REPRODUCED, shown(value, printed), value, "", how)
    corrected = claim.corrected
    if corrected is not None and rounds_to(value, corrected):
        how = f"rounds to {corrected}, not to {printed}"
        return _Judged(ERRATUM, shown(value, corrected, 3), value, "", how)
    how = f"does not round to {printed}"
    return _Judged(DIFFERS, shown(value, printed), value, "", how)


def _statement(claim: Claim, outcome: Mapping[str, Quantity]) -> _Judged:
    found = _truth(claim.holds or "", outcome)
    how = claim.because or "the statement is checked"
    if found.value:
        return _Judged(REPRODUCED, "holds", True, found.told, how)
    if claim.instead is None:
        return _Judged(_refuted(claim), "does not hold", False, found.told, how)
    right = _truth(claim.instead, outcome)
    verdict, also = (ERRATUM, "holds") if right.value else (DIFFERS, "does not hold either")
    told, how = f"{found.told}; instead {right.told}", f"{how}; what should stand there {also}"
    return _Judged(verdict, "does not hold", False, told, how)


def _truth(text: str, outcome: Mapping[str, Quantity]) -> Evidence:
    """A statement that is true or false, with its evaluated sides."""
    found = evidence(text, outcome)
    if not isinstance(found.value, bool):
        raise BadExpression(
            f"{text}: a statement is true or false, and this is {found.told};"
            " compare it, or give `value` and `printed` for a number"
        )
    return found


def _draw(claim: Claim, outcome: Mapping[str, Quantity]) -> _Judged:
    found = evaluate(claim.draws or "", outcome)
    if not isinstance(found, Quantity):
        raise BadExpression(f"{claim.draws}: repetitions are needed, and this is one value")
    draws = np.asarray(found.values, dtype=np.float64).ravel()
    test = held_against(draws, claim.printed or "")
    verdict = CONSISTENT if test.chance >= ALPHA else _refuted(claim)
    median = float(np.median(draws))
    computed = f"{median:.6g} ({test.low:.6g} to {test.high:.6g})"
    how = (
        f"a value no more probable than the printed one has chance {test.chance:.3g} in"
        f" {draws.size} repetitions; {test.low:.6g} to {test.high:.6g} would have passed"
    )
    return _Judged(verdict, computed, median, "", how, test.weak)


class Draw(NamedTuple):
    """A printed value among repetitions."""

    chance: float  # of a value at least as improbable as the printed one
    low: float  # between these it would have passed
    high: float
    weak: bool  # nearly anything would have


def held_against(draws: AnyArray, printed: str) -> Draw:
    """How improbable is the printed value among repetitions of the draw?

    Whole numbers: the share of all values that are no more frequent than it; it must occur. Others:
    twice the smaller tail, from the printed value's own rounding on.
    """
    target = number(printed) or Decimal(0)
    value, half = float(target), float(last_digit(target) / 2)
    if target == target.to_integral_value() and np.all(draws == np.round(draws)):
        values, counts = np.unique(draws, return_counts=True)
        shares = counts / draws.size
        # Shares that differ by chance in the last digit are equal.
        chances = np.array([shares[shares <= share * (1 + 1e-9)].sum() for share in shares])
        chance = float(chances[values == value].sum())
        passing = values[chances >= ALPHA]
        seen = values[-1] - values[0] + 1
        weak = len(passing) > 1 and len(passing) > WEAK_SHARE * seen
        return Draw(chance, float(passing[0]), float(passing[-1]), bool(weak))
    tails = np.mean(draws <= value + half), np.mean(draws >= value - half)
    low, high = np.quantile(draws, [ALPHA / 2, 1 - ALPHA / 2])
    weak = high - low > abs(np.median(draws))
    return Draw(min(1.0, 2 * float(min(tails))), float(low), float(high), bool(weak))


_RULES = {"number": _number, "statement": _statement, "draw": _draw}


def _refuted(claim: Claim) -> str:
    """A claim that fails is an erratum if the file can say what is right instead."""
    return ERRATUM if claim.corrected else DIFFERS


def number(text: str) -> Decimal | None:
    """A number as a book prints it: `36.416`, `-0.0133`, `1.5204e-6`, `12,345`."""
    try:
        value = Decimal(text.replace(",", "").replace("−", "-").strip())
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def rounds_to(value: Any, printed: str, within: float | None = None) -> bool:
    """Does the value round to the printed digits? A value half-way may round either way."""
    target = number(printed)
    if target is None or isinstance(value, bool | str) or not math.isfinite(value):
        return False
    if isinstance(value, int) and within is None:
        exponent = int(target.as_tuple().exponent)
        if exponent <= 0:
            return Decimal(value) == target
    half = Decimal(str(within)) if within is not None else last_digit(target) / 2
    return abs(Decimal(repr(value)) - target) <= half  # the shortest decimal: half-way is half-way


def last_digit(printed: Decimal) -> Decimal:
    """One unit in the last printed place: 0.001 for 36.416, 1e-10 for 1.5204e-6."""
    return Decimal(1).scaleb(int(printed.as_tuple().exponent))


def shown(value: Any, printed: str | None = None, more: int = 2) -> str:
    """A value for people: two digits more than the book prints, six where it prints none."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | str):
        return str(value)
    target = number(printed) if printed is not None else None
    if target is None or not np.isfinite(value):
        return f"{value:.6g}"
    places = -int(target.as_tuple().exponent) + more
    if target != 0 and (target.adjusted() < -3 or target.adjusted() > 6):
        return f"{value:.{max(places + target.adjusted(), 0)}e}"
    return f"{value:.{max(places, 0)}f}"
