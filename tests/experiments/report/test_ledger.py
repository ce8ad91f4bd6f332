"""The ledger: places that share a cause are one entry, told as `conf/errata` has it."""

from typing import Any

import pytest

from experiments.configuration import errata
from experiments.configuration.errata import Erratum
from experiments.contract.errors import BadInput
from experiments.report.content import Result
from experiments.report.ledger import ledger


def claim(says: str, cause: str | None = None, verdict: str = "erratum") -> dict[str, Any]:
    known = {"book": "fcml", "cause": cause, "verdict": verdict, "claim": says, "why": "because"}
    return {**known, "ledger": f"fcml-{cause}" if cause else f"own-{says}"}


def result(name: str, *claims: dict[str, Any]) -> Result:
    return Result(name, f"{name}.html", {}, None, list(claims))


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(book: str, name: str) -> Erratum:
        if name == "gone":
            raise BadInput("not in the ledger")
        return Erratum(f"{name} of {book}", "a slip", True, ["none helps"], "unlikely", "words")

    monkeypatch.setattr(errata, "read", read)


@pytest.mark.usefixtures("known")
def test_one_cause_is_one_entry_with_its_places() -> None:
    first = result("a", claim("cell 1", "covariance"), claim("right", verdict="reproduced"))
    second = result("b", claim("cell 2", "covariance"), claim("alone"))
    entries = ledger([first, second])
    assert [entry.anchor for entry in entries] == ["fcml-covariance", "own-alone"]
    assert [(r.name, c["claim"]) for r, c in entries[0].places] == [
        ("a", "cell 1"),
        ("b", "cell 2"),
    ]
    assert (entries[0].erratum.says, entries[0].erratum.perhaps) == ("covariance of fcml", True)


@pytest.mark.usefixtures("known")
def test_a_claim_without_an_entry_speaks_for_itself() -> None:
    entries = ledger([result("a", claim("alone"), claim("older", "gone"))])
    assert [(e.erratum.says, e.erratum.cause) for e in entries] == [
        ("alone", "because"),
        ("older", "because"),
    ]
