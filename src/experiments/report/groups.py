"""Books and topics: the rows of the scoreboard, each with its own page."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bythebook.experiments.config.catalogue import BOOKS
from bythebook.experiments.core.slugs import unique_slugs
from bythebook.experiments.report.display_names import display_name
from bythebook.experiments.report.result_pages import ResultPage, count_by_origin

BOOKS_WITHOUT_CHAPTERS = {"ghahramani"}  # its numbered parts are sections


@dataclass(frozen=True)
class ResultGroup:
    """A row of the scoreboard: a book or a topic, with the verdicts of each origin."""

    name: str
    label: str
    url: str
    results: list[ResultPage]  # of this book or topic
    claims: list[dict[str, Any]]  # about this book, or in results of this topic

    @property
    def verdict_counts(self) -> dict[str, Counter[str]]:
        return count_by_origin(self.claims)


def group_results(results: Sequence[ResultPage]) -> tuple[list[ResultGroup], list[ResultGroup]]:
    """The groups by book, in the order of the catalogue, and by topic, in alphabetical order."""
    known = list(BOOKS)
    others = sorted({result.book for result in results} - set(known))
    books = [book for book in [*known, *others] if any(r.book == book for r in results)]
    topics = sorted({result.topic for result in results})
    by_book = [
        ResultGroup(
            book,
            BOOKS.get(book, book),
            f"books/{file}.html",
            [r for r in results if r.book == book],
            [claim for r in results for claim in r.claims if (claim["book"] or r.book) == book],
        )
        for book, file in zip(books, unique_slugs(books), strict=True)
    ]
    by_topic = [
        ResultGroup(
            topic,
            display_name(topic),
            f"topics/{file}.html",
            [r for r in results if r.topic == topic],
            [claim for r in results if r.topic == topic for claim in r.claims],
        )
        for topic, file in zip(topics, unique_slugs(topics), strict=True)
    ]
    return by_book, by_topic


def sections(group: ResultGroup, *, by_book: bool) -> list[tuple[str, list[ResultPage]]]:
    """The results under headings: those of a topic by book, those of a book by chapter."""
    by_heading: dict[str, list[ResultPage]] = {}
    for result in group.results:
        if by_book:
            heading = BOOKS.get(result.book, result.book)
        else:
            number = result.section.partition(".")[0]
            word = "Section" if group.name in BOOKS_WITHOUT_CHAPTERS else "Chapter"
            heading = f"{word} {number}" if number.isdigit() else result.section or "Other"
        by_heading.setdefault(heading, []).append(result)
    return list(by_heading.items())
