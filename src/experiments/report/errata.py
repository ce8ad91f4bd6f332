"""The errata ledger: one entry per cause, with every place where a recorded run shows it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bythebook.experiments.config import errata
from bythebook.experiments.config.errata import Erratum
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.verdicts import ERRATUM
from bythebook.experiments.report.result_pages import ResultPage


@dataclass(frozen=True)
class ErratumPage:
    """An entry of the ledger: one mistake of a text, and the places where it appears."""

    anchor: str
    book: str
    erratum: Erratum
    places: list[tuple[ResultPage, dict[str, Any]]]  # a result and a claim that shows the mistake


def collect_errata(results: Sequence[ResultPage]) -> list[ErratumPage]:
    """The errata that recorded runs show, in the order of the books."""
    places: dict[str, list[tuple[ResultPage, dict[str, Any]]]] = {}
    for result in results:
        for claim in result.claims:
            if claim["verdict"] == ERRATUM:
                places.setdefault(claim["ledger"], []).append((result, claim))
    return [
        ErratumPage(anchor, pairs[0][1]["book"], _erratum(pairs[0][1]), pairs)
        for anchor, pairs in places.items()
    ]


def _erratum(claim: dict[str, Any]) -> Erratum:
    """The entry of the ledger; for a claim without one, an entry made of the claim's own texts."""
    if claim["cause"] is not None:
        with suppress(InputError):  # the cause of an old record may no longer be in the ledger
            return errata.load_erratum(claim["book"], claim["cause"])
    return Erratum(says=claim["claim"], cause=claim["why"])
