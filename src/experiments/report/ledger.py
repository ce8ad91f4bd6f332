"""The errata ledger: one entry a cause, with every place where a run shows it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from experiments.configuration import errata
from experiments.configuration.errata import Erratum
from experiments.contract.errors import BadInput
from experiments.contract.verdicts import ERRATUM
from experiments.report.content import Result


@dataclass(frozen=True)
class Entry:
    """One mistake of a text, and where it shows."""

    anchor: str
    book: str
    erratum: Erratum
    places: list[tuple[Result, dict[str, Any]]]  # results with the claims that fail in them


def ledger(found: Sequence[Result]) -> list[Entry]:
    """Every cause that a recorded run shows, in the order of the books."""
    places: dict[str, list[tuple[Result, dict[str, Any]]]] = {}
    for result in found:
        for claim in result.claims:
            if claim["verdict"] == ERRATUM:
                places.setdefault(claim["ledger"], []).append((result, claim))
    return [
        Entry(anchor, shown[0][1]["book"], _erratum(shown[0][1]), shown)
        for anchor, shown in places.items()
    ]


def _erratum(claim: dict[str, Any]) -> Erratum:
    """What the ledger says; a claim of somebody's own file speaks for itself."""
    if claim["cause"] is not None:
        with suppress(BadInput):  # a record that is older than the ledger's entry
            return errata.read(claim["book"], claim["cause"])
    return Erratum(says=claim["claim"], cause=claim["why"])
