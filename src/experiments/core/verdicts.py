"""Names of the verdicts, and counts of verdicts by category."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

REPRODUCED, CONSISTENT, ERRATUM, DIFFERS, UNTESTED = VERDICTS = (
    "reproduced",
    "consistent",
    "erratum",
    "differs",
    "untested",
)
ORIGINS = ("printed", "derived")  # a statement of the text; a check that we added
CONSTRUCTION = "construction"  # the claim is true for any data, so it is not evidence
BY_CONSTRUCTION = f"by {CONSTRUCTION}"
CATEGORIES = (*VERDICTS, BY_CONSTRUCTION)  # a claim is counted in one of them
DEFINITIONS = {  # of every category; the report and its documentation of fields show these texts
    REPRODUCED: "the computed value rounds to the printed digits, or the printed statement is true"
    " on the recorded run",
    CONSISTENT: "the text reports one random draw; in our repetitions, values at least as"
    " improbable as the printed one have a total probability of at least 5 %; the verdict is weak"
    " if nearly any printed value would pass",
    ERRATUM: "the claim fails, and the run confirms the correction; counted once per cause",
    DIFFERS: "the claim fails and no correction is confirmed; the reason is given as far as it is"
    " known",
    UNTESTED: "the data or settings that would decide are not available; the claim names them",
    BY_CONSTRUCTION: "a printed claim that is true for any data, so it is not evidence; counted"
    " separately",
}


def count_verdicts(verdicts: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """The number of claims in each category; errata are counted once for each cause."""
    counts: Counter[str] = Counter()
    causes = set()
    for index, verdict in enumerate(verdicts):
        if verdict["verdict"] == ERRATUM:
            book = verdict.get("book") or verdict["place"].partition(" ")[0]
            causes.add((book, verdict["cause"] or index))
        else:
            counts[verdict["standing"]] += 1
    return counts + Counter({ERRATUM: len(causes)})


def summarise_verdicts(verdicts: Iterable[Mapping[str, Any]]) -> str:
    """The counts as text: `3 reproduced, 1 erratum`."""
    counts = count_verdicts(verdicts)
    return ", ".join(f"{counts[name]} {name}" for name in CATEGORIES if counts[name])
