"""The scoreboard: claims by verdict, by book and by topic, printed and derived apart."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from experiments.configuration.catalogue import BOOKS
from experiments.contract.claims import DIFFERS, ORIGINS, VERDICTS
from experiments.contract.places import topic
from experiments.records.store import Record

Claims = list[dict[str, Any]]


def claim_records(records: Mapping[str, Record]) -> Claims:
    """One flat record a claim, in the order of the experiments; the machine-readable result."""
    return [
        {
            "experiment": name,
            "book": record.source.book,
            "item": record.source.item,
            "topic": topic(record.study),
            "claim": verdict["says"],
            "origin": verdict["origin"],
            "kind": verdict["kind"],
            "by": verdict["by"],
            "expression": verdict["expression"],
            "evidence": verdict["evidence"],
            "printed": verdict["printed"],
            "computed": verdict["computed"],
            "value": verdict["value"],
            "verdict": verdict["verdict"],
            "expected": verdict["expected"],
            "as_expected": verdict["as_expected"],
            "judged": verdict["judged"],
            "corrected": verdict["corrected"],
            "why": verdict["why"],
            "data_grade": verdict["grade"],
            "run_id": record.id,
        }
        for name, record in records.items()
        for verdict in record.verdicts
    ]


def counts(claims: Claims, by: str) -> dict[str, dict[str, Counter[str]]]:
    """Group -> origin -> verdict -> how many; groups in the order of the books or the alphabet."""
    groups = list(BOOKS) if by == "book" else sorted({claim[by] for claim in claims})
    found = {group: {origin: Counter[str]() for origin in ORIGINS} for group in groups}
    for claim in claims:
        found[claim[by]][claim["origin"]][claim["verdict"]] += 1
    return {group: tally for group, tally in found.items() if any(tally.values())}


COLUMNS = ["results", *VERDICTS, "derived checks"]


def rows(claims: Claims, by: str) -> list[list[str]]:
    """A table: group, results, the verdicts of printed claims, derived ones apart, and a total."""
    groups = [*counts(claims, by), "all"]
    table = []
    for group in groups:
        part = [claim for claim in claims if group in ("all", claim[by])]
        results = {claim["experiment"] for claim in part}
        printed = Counter(claim["verdict"] for claim in part if claim["origin"] == "printed")
        derived = [claim["verdict"] for claim in part if claim["origin"] == "derived"]
        hold = sum(verdict != DIFFERS for verdict in derived)
        verdicts = [str(printed[verdict] or "-") for verdict in VERDICTS]
        table.append([group, str(len(results)), *verdicts, f"{hold} of {len(derived)} hold"])
    return table


def markdown(claims: Claims, by: str) -> str:
    """The scoreboard as a Markdown table, for the README."""
    lines = ["| " + " | ".join([by, *COLUMNS]) + " |", "| --- |" + " ---: |" * len(COLUMNS)]
    lines += ["| " + " | ".join(row) + " |" for row in rows(claims, by)]
    return "\n".join(lines) + "\n"


def surprises(claims: Iterable[dict[str, Any]]) -> Claims:
    """The claims that came out otherwise than their files expect."""
    return [claim for claim in claims if not claim["as_expected"]]
