"""The errata ledger: claims with one cause form one entry, with the texts of `conf/errata`."""

from typing import Any

import pytest

from bythebook.experiments.config import errata
from bythebook.experiments.config.errata import Erratum
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.report.errata import collect_errata
from bythebook.experiments.report.result_pages import ResultPage


def claim(says: str, cause: str | None = None, verdict: str = "erratum") -> dict[str, Any]:
    known = {"book": "fcml", "cause": cause, "verdict": verdict, "claim": says, "why": "because"}
    return {**known, "ledger": f"fcml-{cause}" if cause else f"own-{says}"}


def result(name: str, *claims: dict[str, Any]) -> ResultPage:
    return ResultPage(name, f"{name}.html", {}, None, list(claims))


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(book: str, name: str) -> Erratum:
        if name == "gone":
            raise InputError("not in the ledger")
        return Erratum(f"{name} of {book}", "a typo", True, ["none helps"], "unlikely", "words")

    monkeypatch.setattr(errata, "load_erratum", read)


@pytest.mark.usefixtures("known")
def test_one_cause_is_one_entry_with_its_places() -> None:
    first = result("a", claim("cell 1", "covariance"), claim("right", verdict="reproduced"))
    second = result("b", claim("cell 2", "covariance"), claim("alone"))
    entries = collect_errata([first, second])
    assert [entry.anchor for entry in entries] == ["fcml-covariance", "own-alone"]
    assert [(r.name, c["claim"]) for r, c in entries[0].places] == [
        ("a", "cell 1"),
        ("b", "cell 2"),
    ]
    assert (entries[0].erratum.says, entries[0].erratum.perhaps) == ("covariance of fcml", True)


@pytest.mark.usefixtures("known")
def test_a_claim_without_an_entry_gives_its_own_texts() -> None:
    entries = collect_errata([result("a", claim("alone"), claim("older", "gone"))])
    assert [(e.erratum.says, e.erratum.cause) for e in entries] == [
        ("alone", "because"),
        ("older", "because"),
    ]
