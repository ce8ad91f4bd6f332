"""Claims and verdicts: what the book says, and what came of it.

A printed value is kept as the string in the book, and its digits are the tolerance: "1.358" is
reproduced by what rounds to 1.358. There are four kinds of claim, told apart by their fields:

    printed number    printed                  the metric rounds to the printed digits
    range in words    between                  the metric lies in the closed interval
    statement         neither                  the metric is true
    one random draw   draws and printed        the printed value lies in the central 95 % of
                                               our repetitions (an array of the outcome)
"""

import math
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from experiments.errors import BadInput
from experiments.outcome import Outcome

REPRODUCED, CONSISTENT, ERRATUM, DIFFERS = VERDICTS = (
    "reproduced",
    "consistent",
    "erratum",
    "differs",
)
ORIGINS = ("printed", "derived")  # the text says it; our own check
CENTRAL = 0.95


@dataclass
class Claim:
    """One thing the book says that a computer can check."""

    says: str = ""  # the claim in our words
    metric: str | None = None  # the quantity of the outcome it is about
    draws: str | None = None  # or the array of repetitions, where the book's draw cannot be had
    printed: str | None = None
    between: list[float] | None = None
    within: float | None = None  # a tolerance wider than the printed digits; needs `because`
    because: str = ""
    corrected: str | None = None  # erratum: what the book should have printed
    why: str = ""  # erratum, differs: what we know of the reason
    expect: str | None = None  # the verdict this file expects; reproduced or consistent by default
    origin: str = "printed"

    def __post_init__(self) -> None:
        found = list(self._problems())
        if found:
            raise BadInput([f"claim '{self.says or self.metric}': {line}" for line in found])

    @property
    def expected(self) -> str:
        return self.expect or (CONSISTENT if self.draws else REPRODUCED)

    @property
    def kind(self) -> str:
        if self.draws:
            return "draw"
        if self.printed is not None:
            return "number"
        return "range" if self.between is not None else "statement"

    def _problems(self) -> Any:
        if not self.says:
            yield "says nothing; `says` states the claim in words"
        if (self.metric is None) == (self.draws is None):
            yield "names neither or both of `metric` and `draws`; exactly one is needed"
        if self.expected not in VERDICTS:
            yield f"expect={self.expected} is not a verdict; allowed: {', '.join(VERDICTS)}"
        if self.origin not in ORIGINS:
            yield f"origin={self.origin} is unknown; allowed: {', '.join(ORIGINS)}"
        if self.printed is not None and self.between is not None:
            yield "has both `printed` and `between`; one claim, one kind"
        if self.draws and self.printed is None:
            yield "is about a random draw and needs the `printed` value"
        for text in (self.printed, self.corrected if self.kind in ("number", "draw") else None):
            if text is not None and number(text) is None:
                yield f"'{text}' is not a number as a book would print it"
        if self.between is not None and not (
            len(self.between) == 2 and self.between[0] <= self.between[1]
        ):
            yield f"between={self.between} is not an interval; allowed: two numbers, low <= high"
        if self.within is not None and not (self.within > 0 and self.because):
            yield "`within` must be positive and needs its reason in `because`"
        if self.expected == ERRATUM and not (self.corrected and self.why):
            yield "an erratum needs `corrected` and `why`"
        if self.expected == DIFFERS and not self.why:
            yield "`expect: differs` needs `why`"


@dataclass(frozen=True)
class Verdict:
    """What came of one claim, with all a reader needs to see why."""

    says: str
    quantity: str
    kind: str
    origin: str
    printed: str | None
    computed: str
    value: float | bool | str | None
    verdict: str
    expected: str
    judged: str  # how: the rule in words, with the numbers that entered it
    corrected: str | None
    why: str
    grade: str  # book, original or stand-in data

    @property
    def as_expected(self) -> bool:
        return self.verdict == self.expected

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "as_expected": self.as_expected}


def judge(claim: Claim, outcome: Outcome, grade: str) -> Verdict:
    """Hold one claim against an outcome."""
    quantity = claim.draws or claim.metric or ""
    place = outcome.arrays if claim.draws else outcome.metrics
    if quantity not in place:
        what = "array of repetitions" if claim.draws else "metric"
        raise BadInput(
            f"claim '{claim.says}': the study gives no {what} '{quantity}';"
            f" it gives: {', '.join(sorted(place)) or 'none'}"
        )
    value: Any = place[quantity]
    verdict, computed, judged = _RULES[claim.kind](claim, value)
    return Verdict(
        says=claim.says,
        quantity=quantity,
        kind=claim.kind,
        origin=claim.origin,
        printed=claim.printed,
        computed=computed,
        value=float(np.median(value)) if claim.draws else value,
        verdict=verdict,
        expected=claim.expected,
        judged=judged,
        corrected=claim.corrected,
        why=claim.why,
        grade=grade,
    )


def _number(claim: Claim, value: Any) -> tuple[str, str, str]:
    printed = claim.printed or ""
    if rounds_to(value, printed, claim.within):
        how = (
            f"within {claim.within:g}: {claim.because}" if claim.within else "to the printed digits"
        )
        return REPRODUCED, shown(value, printed), how
    corrected = claim.corrected
    if corrected is not None and rounds_to(value, corrected):
        return ERRATUM, shown(value, corrected, 3), f"rounds to {corrected}, not to {printed}"
    return DIFFERS, shown(value, printed), f"does not round to {printed}"


def _range(claim: Claim, value: Any) -> tuple[str, str, str]:
    low, high = claim.between or [0.0, 0.0]
    inside = bool(low <= value <= high)
    how = f"{'in' if inside else 'not in'} [{low:g}, {high:g}]"
    return (REPRODUCED if inside else _refuted(claim)), shown(value), how


def _statement(claim: Claim, value: Any) -> tuple[str, str, str]:
    if not isinstance(value, bool):
        raise BadInput(
            f"claim '{claim.says}': a statement needs a metric that is true or false,"
            f" and {claim.metric} is {value!r}; give `printed` or `between` for a number"
        )
    return (
        (REPRODUCED if value else _refuted(claim)),
        "holds" if value else "does not hold",
        "the statement is checked",
    )


def _draw(claim: Claim, value: Any) -> tuple[str, str, str]:
    draws = np.asarray(value, dtype=np.float64)
    printed = float(number(claim.printed or "") or 0)
    tail = (1 - CENTRAL) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    # Ties count half: the percentile of the mode of a discrete quantity is then central.
    percentile = 100 * float(np.mean(draws < printed) + np.mean(draws == printed) / 2)
    inside = bool(low <= printed <= high)
    how = (
        f"printed value at percentile {percentile:.1f} of {draws.size} repetitions;"
        f" central 95 %: [{low:.6g}, {high:.6g}]"
    )
    computed = f"{np.median(draws):.6g} ({low:.6g} to {high:.6g})"
    return (CONSISTENT if inside else _refuted(claim)), computed, how


_RULES = {"number": _number, "range": _range, "statement": _statement, "draw": _draw}


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
