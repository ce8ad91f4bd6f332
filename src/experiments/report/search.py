"""The search index: every page's words in one spelling, as a script that all pages share.

It is a script and no JSON, which a page that was opened from the file system could not load. It
holds what `bythebook list --search` looks through, and the verdicts.
"""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from experiments.configuration.catalogue import BOOKS
from experiments.configuration.selection import SPELLINGS, plain
from experiments.report.books import Group
from experiments.report.content import Result
from experiments.report.ledger import Entry
from experiments.report.sweeps import Swept

FILE = "search.js"


class Found(NamedTuple):
    """What a search shows of a page, and the words that find it."""

    url: str
    title: str
    where: str
    words: str


def index(
    found: Iterable[Result],
    entries: Iterable[Entry],
    groups: Iterable[Group],
    sweeps: Iterable[Swept],
) -> str:
    """The script: how words are compared, and one line a page."""
    pages = [
        *(_result(result) for result in found),
        *(_erratum(entry) for entry in entries),
        *(_found(group.url, group.label, "page", [group.name]) for group in groups),
        *(_found(sweep.url, sweep.plan.title, "sweep", [sweep.command]) for sweep in sweeps),
    ]
    lines = ",\n".join(json.dumps(page) for page in pages)
    return f"window.bythebook = {{spellings: {json.dumps(SPELLINGS)}, pages: [\n{lines}\n]}};\n"


def _result(result: Result) -> Found:
    book = BOOKS.get(result.book, result.book)
    where = f"{book}, {result.place}" if result.place else book
    title = f"{result.item}: {result.title}" if result.title else result.item
    return _found(result.url, title, where, [result.words, *result.verdicts])


def _erratum(entry: Entry) -> Found:
    told = entry.erratum
    said = [
        told.cause,
        *told.readings,
        told.because,
        *(place[1]["claim"] for place in entry.places),
    ]
    where = f"erratum, {BOOKS.get(entry.book, entry.book)}"
    return _found(f"errata.html#{entry.anchor}", told.says, where, said)


def _found(url: str, title: str, where: str, said: Sequence[str]) -> Found:
    """Words that the title and the place have need not be told again."""
    shown = plain(f"{title} {where}")
    words = dict.fromkeys(plain(" ".join(said)).split())
    return Found(url, title, where, " ".join(word for word in words if word not in shown))
