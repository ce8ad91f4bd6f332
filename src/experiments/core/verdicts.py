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
HOLDS = "holds"  # the verdict on a printed equation that is right
ORIGINS = PRINTED, DERIVED = ("printed", "derived")  # of the text; a check that we added
DERIVED_CATEGORIES = ("derived hold", "derived differ")  # never added to those of printed claims
CONSTRUCTION = "construction"  # the claim is true for any data, so it is not evidence
READING = "reading"  # the claim is an erratum that reading alone shows
BY_CONSTRUCTION, BY_READING = f"by {CONSTRUCTION}", f"by {READING}"
EQUATION = "equation"  # the kind of a claim about a printed equation
EQUATION_CATEGORIES = {HOLDS: "equation holds", ERRATUM: "equation erratum"}
CATEGORIES = (  # a claim is counted in one of them
    *VERDICTS,
    BY_CONSTRUCTION,
    BY_READING,
    *EQUATION_CATEGORIES.values(),
)
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
    BY_READING: "an erratum that a reader sees without a run, such as a wrong index; counted"
    " separately, once per cause",
    EQUATION_CATEGORIES[HOLDS]: "both sides of a printed equation, computed by independent routes,"
    " agree in all random cases; each equation is counted once",
    EQUATION_CATEGORIES[ERRATUM]: "a printed equation fails in random cases and the corrected one"
    " holds in all of them; each equation is counted once",
}


def count_verdicts(verdicts: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """The number of claims in each category; errata are counted once for each cause.

    An equation that several results claim is counted once.
    """
    counts: Counter[str] = Counter()
    causes: dict[str, set[tuple[str, Any]]] = {ERRATUM: set(), BY_READING: set()}
    equations = set()
    for index, verdict in enumerate(verdicts):
        if verdict["standing"] in EQUATION_CATEGORIES.values():
            equations.add((verdict["standing"], verdict["expression"]))
        elif verdict["verdict"] == ERRATUM:
            book = verdict.get("book") or verdict["place"].partition(" ")[0]
            kind = BY_READING if verdict["standing"] == BY_READING else ERRATUM
            causes[kind].add((book, verdict["cause"] or index))
        else:
            counts[verdict["standing"]] += 1
    counts.update(category for category, _ in equations)
    causes[BY_READING] -= causes[ERRATUM]  # a run confirms these as well
    return counts + Counter({kind: len(found) for kind, found in causes.items()})


def count_separately(verdicts: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """The counts of the text's claims by category, and of derived checks by themselves."""
    listed = list(verdicts)
    counts = count_verdicts(entry for entry in listed if entry.get("origin") != DERIVED)
    for entry in listed:
        if entry.get("origin") == DERIVED:
            counts[DERIVED_CATEGORIES[entry["verdict"] == DIFFERS]] += 1
    return counts


def summarise_verdicts(verdicts: Iterable[Mapping[str, Any]]) -> str:
    """The counts as text: `3 reproduced, 1 erratum, 2 equations hold, 8 derived hold`."""
    counts = count_separately(verdicts)
    names = (*CATEGORIES, *DERIVED_CATEGORIES)
    return ", ".join(_counted(counts[name], name) for name in names if counts[name])


def _counted(count: int, name: str) -> str:
    if count == 1 or name not in EQUATION_CATEGORIES.values():
        return f"{count} {name}"
    return f"{count} {'equations hold' if name.endswith('holds') else 'equation errata'}"
