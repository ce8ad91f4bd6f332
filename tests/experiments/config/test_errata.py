"""The errata ledger: complete entries, each with claims, and no erratum without an entry."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from bythebook.experiments.config import catalogue, errata
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.verdicts import ERRATUM

ENTRY = """
says: the sum is wrong
cause: a typing error
readings: [as an average it is wrong too]
copy: unlikely
because: the text computes on with it
"""


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    monkeypatch.setattr(errata, "CONF_DIR", tmp_path)
    folder = tmp_path / "errata" / "fcml"
    folder.mkdir(parents=True)
    errata.load_erratum.cache_clear()
    yield folder
    errata.load_erratum.cache_clear()


def claims() -> Iterator[tuple[str, str]]:
    """Book and cause of every erratum in the experiment files."""
    for name in catalogue.experiment_names():
        job = load_job(name)
        for claim in job.claims:
            if claim.expect == ERRATUM:
                assert claim.cause, f"{name}: '{claim.says}' names no cause"
                yield claim.source_book or job.source.book, claim.cause


def test_every_erratum_has_a_cause_and_every_cause_a_claim() -> None:
    used = Counter(claims())
    listed = {(book, name) for book in catalogue.BOOKS for name in errata.erratum_names(book)}
    assert set(used) == listed


def test_an_entry_is_read(ledger: Path) -> None:
    (ledger / "typo.yaml").write_text(ENTRY)
    found = errata.load_erratum("fcml", "typo")
    assert found.says == "the sum is wrong"
    assert not found.perhaps


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("cause: a typing error", ""), "`cause` is missing"),
        (("unlikely", "never"), "copy=never; allowed: possible, unlikely"),
        (("[as an average it is wrong too]", "none"), "'none' is not allowed"),
        (("says:", "sais:"), "is not allowed"),
        (("cause: a typing error", "says: again"), "duplicate key: says"),
    ],
)
def test_a_missing_or_invalid_field_is_named(
    ledger: Path, change: tuple[str, str], message: str
) -> None:
    (ledger / "typo.yaml").write_text(ENTRY.replace(*change))
    with pytest.raises(InputError, match=message):
        errata.load_erratum("fcml", "typo")


def test_an_unknown_cause_is_reported_with_the_known_ones(ledger: Path) -> None:
    (ledger / "typo.yaml").write_text(ENTRY)
    with pytest.raises(InputError, match=r"did you mean 'typo'\?.* allowed: typo"):
        errata.load_erratum("fcml", "typoo")
