"""The verdicts there are, and how they are counted."""

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
ORIGINS = ("printed", "derived")  # the text says it; our own check
CONSTRUCTION = "construction"  # it holds whatever the data, and is no evidence
BY_CONSTRUCTION = f"by {CONSTRUCTION}"
STANDINGS = (*VERDICTS, BY_CONSTRUCTION)  # where a claim is counted


def tallied(verdicts: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """How many claims of each standing; errata by cause, in however many places each shows."""
    counts: Counter[str] = Counter()
    causes = set()
    for place, verdict in enumerate(verdicts):
        if verdict["verdict"] == ERRATUM:
            book = verdict.get("book") or verdict["place"].partition(" ")[0]
            causes.add((book, verdict["cause"] or place))
        else:
            counts[verdict["standing"]] += 1
    return counts + Counter({ERRATUM: len(causes)})


def in_words(verdicts: Iterable[Mapping[str, Any]]) -> str:
    """The verdicts of a run in a few words: `3 reproduced, 1 erratum`."""
    counts = tallied(verdicts)
    return ", ".join(f"{counts[name]} {name}" for name in STANDINGS if counts[name])
