"""The scoreboard: counts of verdicts by book and by topic, printed claims and derived checks."""

from collections.abc import Iterable, Mapping
from typing import Any

from bythebook.experiments.config.catalogue import BOOKS
from bythebook.experiments.core.registry import topic_of
from bythebook.experiments.core.verdicts import CATEGORIES, DIFFERS, ERRATUM, count_verdicts
from bythebook.experiments.store.record import Record

Claims = list[dict[str, Any]]


def claim_records(records: Mapping[str, Record]) -> Claims:
    """One flat record per claim, in the order of the results; the fields of `export.FIELD_DOCS`."""
    return [
        {
            "experiment": name,
            "book": verdict["place"].partition(" ")[0] or record.source.book,
            "place": verdict["place"],
            "item": record.source.item,
            "topic": topic_of(record.study),
            "claim": verdict["says"],
            "origin": verdict["origin"],
            "kind": verdict["kind"],
            "by": verdict["by"],
            "expression": verdict["expression"],
            "let": "; ".join(f"{name}: {text}" for name, text in verdict["let"].items()),
            "in": verdict["quantifier"],
            "reading": verdict["reading"],
            "evidence": verdict["evidence"],
            "because": verdict["because"],
            "printed": verdict["printed"],
            "computed": verdict["computed"],
            "value": verdict["value"],
            "verdict": verdict["verdict"],
            "standing": verdict["standing"],
            "weak": verdict["weak"],
            "expected": verdict["expected"],
            "as_expected": verdict["as_expected"],
            "judged": verdict["judged"],
            "corrected": verdict["corrected"],
            "instead": verdict["instead"],
            "cause": verdict["cause"],
            "why": verdict["why"],
            "changed": verdict["changed"],
            "data_grade": verdict["grade"],
            "run_id": record.id,
        }
        for name, record in records.items()
        for verdict in record.verdicts
    ]


COLUMNS = ["results", *CATEGORIES, "derived checks"]


def scoreboard_rows(claims: Claims, by: str) -> list[list[str]]:
    """A table with one row per group and a total: results, printed claims, derived checks.

    A result is counted for the book of its file. A claim is counted for the text that it is about,
    which may be another book.
    """
    present = {claim[by] for claim in claims}
    groups = [book for book in BOOKS if book in present] if by == "book" else sorted(present)
    table = []
    for group in [*groups, "all"]:
        part = [claim for claim in claims if group in ("all", claim[by])]
        own = [
            claim
            for claim in claims
            if group in ("all", _book_of(claim) if by == "book" else claim[by])
        ]
        results = {claim["experiment"] for claim in own}
        printed = [claim for claim in part if claim["origin"] == "printed"]
        derived = [claim["verdict"] for claim in part if claim["origin"] == "derived"]
        hold = sum(verdict != DIFFERS for verdict in derived)
        counts = _counts(printed)
        table.append([group, str(len(results)), *counts, f"{hold} of {len(derived)} hold"])
    return table


def _counts(claims: Claims) -> list[str]:
    """The counts of the categories as text; errata by cause, with the number of their places."""
    counts = count_verdicts(claims)
    places = sum(claim["standing"] == ERRATUM for claim in claims)
    texts = {name: str(counts[name] or "-") for name in CATEGORIES}
    if places != counts[ERRATUM]:
        texts[ERRATUM] += f" ({places} places)"
    return list(texts.values())


def _book_of(claim: Mapping[str, Any]) -> str:
    return str(claim["experiment"]).partition("/")[0]


def markdown(claims: Claims, by: str) -> str:
    """The scoreboard as a Markdown table, for the README."""
    lines = ["| " + " | ".join([by, *COLUMNS]) + " |", "| --- |" + " ---: |" * len(COLUMNS)]
    lines += ["| " + " | ".join(row) + " |" for row in scoreboard_rows(claims, by)]
    return "\n".join(lines) + "\n"


def unexpected_claims(claims: Iterable[dict[str, Any]]) -> Claims:
    """The claims whose verdict differs from the one in their experiment file."""
    return [claim for claim in claims if not claim["as_expected"]]
