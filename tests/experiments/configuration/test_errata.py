"""The errata ledger: whole entries, each shown by a claim, and no erratum without its entry."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.configuration import catalogue, errata
from experiments.configuration.build import experiment_job
from experiments.contract.errors import BadInput
from experiments.contract.verdicts import ERRATUM

ENTRY = """
says: the sum is wrong
cause: a slip of the pen
readings: [as an average it is wrong too]
copy: unlikely
because: the text computes on with it
"""


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    monkeypatch.setattr(errata, "ROOT", tmp_path)
    folder = tmp_path / "errata" / "fcml"
    folder.mkdir(parents=True)
    errata.read.cache_clear()
    yield folder
    errata.read.cache_clear()


def claims() -> Iterator[tuple[str, str]]:
    """Book and cause of every erratum that a file of ours expects."""
    for name in catalogue.names():
        job = experiment_job(name)
        for claim in job.claims:
            if claim.expect == ERRATUM:
                assert claim.cause, f"{name}: '{claim.says}' names no cause"
                yield claim.place_book or job.source.book, claim.cause


def test_every_erratum_has_its_cause_and_every_cause_its_place() -> None:
    shown = Counter(claims())
    stated = {(book, name) for book in catalogue.BOOKS for name in errata.names(book)}
    assert set(shown) == stated


def test_an_entry_is_read(ledger: Path) -> None:
    (ledger / "slip.yaml").write_text(ENTRY)
    found = errata.read("fcml", "slip")
    assert found.says == "the sum is wrong"
    assert not found.perhaps


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("cause: a slip of the pen", ""), "`cause` is missing"),
        (("unlikely", "never"), "copy=never; allowed: possible, unlikely"),
        (("[as an average it is wrong too]", "none"), "'none' is not allowed"),
        (("says:", "sais:"), "is not allowed"),
        (("cause: a slip of the pen", "says: again"), "key given twice: says"),
    ],
)
def test_what_a_sceptic_would_miss_is_named(
    ledger: Path, change: tuple[str, str], message: str
) -> None:
    (ledger / "slip.yaml").write_text(ENTRY.replace(*change))
    with pytest.raises(BadInput, match=message):
        errata.read("fcml", "slip")


def test_an_unknown_cause_tells_what_there_is(ledger: Path) -> None:
    (ledger / "slip.yaml").write_text(ENTRY)
    with pytest.raises(BadInput, match=r"did you mean 'slip'\?.* there are: slip"):
        errata.read("fcml", "slipp")
