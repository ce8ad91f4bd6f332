"""Books and topics: the rows of the scoreboard, each with a page of its own."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from experiments.configuration.catalogue import BOOKS
from experiments.contract.slugs import slugs
from experiments.report.content import Result, by_origin
from experiments.report.spelling import humanised

ARTICLES = {"ghahramani"}  # too short for chapters


@dataclass(frozen=True)
class Group:
    """A row of the scoreboard: a book or a topic, with the verdicts of each origin."""

    name: str
    label: str
    url: str
    results: list[Result]  # at home here
    claims: list[dict[str, Any]]  # of this book, wherever they are tested; of this topic

    @property
    def tallies(self) -> dict[str, Counter[str]]:
        return by_origin(self.claims)


def groups(found: Sequence[Result]) -> tuple[list[Group], list[Group]]:
    """Books in their order, topics in the alphabet's."""
    known = list(BOOKS)
    others = sorted({result.book for result in found} - set(known))
    books = [book for book in [*known, *others] if any(r.book == book for r in found)]
    topics = sorted({result.topic for result in found})
    by_book = [
        Group(
            book,
            BOOKS.get(book, book),
            f"books/{file}.html",
            [r for r in found if r.book == book],
            [claim for r in found for claim in r.claims if (claim["book"] or r.book) == book],
        )
        for book, file in zip(books, slugs(books), strict=True)
    ]
    by_topic = [
        Group(
            topic,
            humanised(topic),
            f"topics/{file}.html",
            [r for r in found if r.topic == topic],
            [claim for r in found if r.topic == topic for claim in r.claims],
        )
        for topic, file in zip(topics, slugs(topics), strict=True)
    ]
    return by_book, by_topic


def parts(group: Group, *, by_book: bool) -> list[tuple[str, list[Result]]]:
    """The results under headings: a topic's by books, a book's by chapters."""
    found: dict[str, list[Result]] = {}
    for result in group.results:
        if by_book:
            heading = BOOKS.get(result.book, result.book)
        else:
            number = result.section.partition(".")[0]
            word = "Section" if group.name in ARTICLES else "Chapter"
            heading = f"{word} {number}" if number.isdigit() else result.section or "Elsewhere"
        found.setdefault(heading, []).append(result)
    return list(found.items())
