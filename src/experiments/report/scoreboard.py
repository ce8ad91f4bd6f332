"""The scoreboard: claims by verdict, by book and by topic, printed and derived apart."""

from collections.abc import Iterable, Mapping
from typing import Any

from experiments.configuration.catalogue import BOOKS
from experiments.contract.places import topic
from experiments.contract.verdicts import DIFFERS, ERRATUM, STANDINGS, tallied
from experiments.records.record import Record

Claims = list[dict[str, Any]]


def claim_records(records: Mapping[str, Record]) -> Claims:
    """One flat record a claim, in the order of the experiments; the machine-readable result."""
    return [
        {
            "experiment": name,
            "book": verdict["place"].partition(" ")[0] or record.source.book,
            "place": verdict["place"],
            "item": record.source.item,
            "topic": topic(record.study),
            "claim": verdict["says"],
            "origin": verdict["origin"],
            "kind": verdict["kind"],
            "by": verdict["by"],
            "expression": verdict["expression"],
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


COLUMNS = ["results", *STANDINGS, "derived checks"]


def rows(claims: Claims, by: str) -> list[list[str]]:
    """A table: group, results, the standing of printed claims, derived ones apart, and a total.

    A result is counted once, where it is at home; a claim is counted for the text that makes it.
    """
    present = {claim[by] for claim in claims}
    groups = [book for book in BOOKS if book in present] if by == "book" else sorted(present)
    table = []
    for group in [*groups, "all"]:
        part = [claim for claim in claims if group in ("all", claim[by])]
        home = [
            claim
            for claim in claims
            if group in ("all", _home(claim) if by == "book" else claim[by])
        ]
        results = {claim["experiment"] for claim in home}
        stated = [claim for claim in part if claim["origin"] == "printed"]
        derived = [claim["verdict"] for claim in part if claim["origin"] == "derived"]
        hold = sum(verdict != DIFFERS for verdict in derived)
        counts = _counts(stated)
        table.append([group, str(len(results)), *counts, f"{hold} of {len(derived)} hold"])
    return table


def _counts(claims: Claims) -> list[str]:
    """The standings in their order; errata by cause, with the places where these show."""
    counts = tallied(claims)
    places = sum(claim["verdict"] == ERRATUM for claim in claims)
    shown = {name: str(counts[name] or "-") for name in STANDINGS}
    if places != counts[ERRATUM]:
        shown[ERRATUM] += f" ({places} places)"
    return list(shown.values())


def _home(claim: Mapping[str, Any]) -> str:
    return str(claim["experiment"]).partition("/")[0]


def markdown(claims: Claims, by: str) -> str:
    """The scoreboard as a Markdown table, for the README."""
    lines = ["| " + " | ".join([by, *COLUMNS]) + " |", "| --- |" + " ---: |" * len(COLUMNS)]
    lines += ["| " + " | ".join(row) + " |" for row in rows(claims, by)]
    return "\n".join(lines) + "\n"


def surprises(claims: Iterable[dict[str, Any]]) -> Claims:
    """The claims that came out otherwise than their files expect."""
    return [claim for claim in claims if not claim["as_expected"]]
