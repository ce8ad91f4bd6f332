"""The search index: the words of every page in one spelling, as a script for all pages.

It is a script because a page that is opened from the file system cannot load JSON. It contains the
words that `bythebook list --search` searches, and the verdicts.
"""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bythebook.experiments.config.catalogue import BOOKS
from bythebook.experiments.config.selection import SPELLING_VARIANTS, normalise_text
from bythebook.experiments.report.errata import ErratumPage
from bythebook.experiments.report.groups import ResultGroup
from bythebook.experiments.report.result_pages import ResultPage
from bythebook.experiments.report.sweeps import SweepPage

FILE = "search.js"


class SearchEntry(NamedTuple):
    """The title and location of a page in the search, and the words that find it."""

    url: str
    title: str
    where: str
    words: str


def search_index(
    results: Iterable[ResultPage],
    entries: Iterable[ErratumPage],
    groups: Iterable[ResultGroup],
    sweeps: Iterable[SweepPage],
) -> str:
    """The text of the script: the spelling variants, and one line per page."""
    pages = [
        *(_result(result) for result in results),
        *(_erratum(entry) for entry in entries),
        *(_entry(group.url, group.label, "page", [group.name]) for group in groups),
        *(_entry(sweep.url, sweep.plan.title, "sweep", [sweep.command]) for sweep in sweeps),
    ]
    lines = ",\n".join(json.dumps(page) for page in pages)
    spellings = json.dumps(SPELLING_VARIANTS)
    return f"window.bythebook = {{spellings: {spellings}, pages: [\n{lines}\n]}};\n"


def _result(result: ResultPage) -> SearchEntry:
    book = BOOKS.get(result.book, result.book)
    where = f"{book}, {result.location}" if result.location else book
    title = f"{result.item}: {result.title}" if result.title else result.item
    return _entry(result.url, title, where, [result.search_text, *result.verdicts])


def _erratum(entry: ErratumPage) -> SearchEntry:
    erratum = entry.erratum
    claims = (claim["claim"] for _, claim in entry.places)
    texts = [erratum.cause, *erratum.readings, erratum.because, *claims]
    where = f"erratum, {BOOKS.get(entry.book, entry.book)}"
    return _entry(f"errata.html#{entry.anchor}", erratum.says, where, texts)


def _entry(url: str, title: str, where: str, texts: Sequence[str]) -> SearchEntry:
    """An entry; words that the title or the location contain are not repeated."""
    shown = normalise_text(f"{title} {where}")
    words = dict.fromkeys(normalise_text(" ".join(texts)).split())
    return SearchEntry(url, title, where, " ".join(word for word in words if word not in shown))
