"""Books and topics: every claim in one row of each, under headings of its chapter."""

from typing import Any

from experiments.configuration.catalogue import BOOKS
from experiments.report.books import groups, parts
from experiments.report.content import Result


def result(name: str, section: str = "", *claims: tuple[str, str]) -> Result:
    """With claims by book and verdict."""
    made: list[dict[str, Any]] = [
        {"book": book, "origin": "printed", "verdict": verdict, "standing": verdict}
        for book, verdict in claims
    ]
    return Result(name, f"experiments/{name}.html", {"section": section}, None, made)


def test_a_result_is_at_home_once_and_a_claim_counts_for_the_text_that_makes_it() -> None:
    told_twice = result("fcml/a", "1.1", ("fcml", "reproduced"), ("prml", "differs"))
    own = result("prml/b", "2", ("prml", "reproduced"))
    books, topics = groups([own, told_twice])
    assert [group.name for group in books] == ["fcml", "prml"]  # the books' order, not ours
    assert [len(group.results) for group in books] == [1, 1]
    assert [dict(group.tallies["printed"]) for group in books] == [
        {"reproduced": 1},
        {"differs": 1, "reproduced": 1},
    ]
    (none,) = topics
    assert (none.name, len(none.claims)) == ("none", 3)


def test_a_book_of_ones_own_comes_last_and_has_a_page() -> None:
    books, _ = groups([result("mine/a"), *(result(f"{book}/x") for book in BOOKS)])
    assert [group.name for group in books] == [*BOOKS, "mine"]
    assert len({group.url for group in books}) == len(books)


def test_chapters_of_a_book_sections_of_an_article_books_of_a_topic() -> None:
    sections = ["1.1", "1.10", "2", "Appendix A", ""]
    found = [result(f"fcml/{i}", section) for i, section in enumerate(sections)]
    article = [result("ghahramani/a", "3.2")]
    (book, short), (topic,) = groups([*found, *article])
    assert [(heading, len(part)) for heading, part in parts(book, by_book=False)] == [
        ("Chapter 1", 2),
        ("Chapter 2", 1),
        ("Appendix A", 1),
        ("Elsewhere", 1),
    ]
    assert [heading for heading, _ in parts(short, by_book=False)] == ["Section 3"]
    named = [heading for heading, _ in parts(topic, by_book=True)]
    assert named == [BOOKS["fcml"], BOOKS["ghahramani"]]
