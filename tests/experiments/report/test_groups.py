"""Books and topics: groups of results and claims, and their headings."""

from typing import Any

from bythebook.experiments.config.catalogue import BOOKS
from bythebook.experiments.report.groups import group_results, sections
from bythebook.experiments.report.result_pages import ResultPage


def result(name: str, section: str = "", *claims: tuple[str, str]) -> ResultPage:
    """A result with claims, given by book and verdict."""
    claims_of_result: list[dict[str, Any]] = [
        {"book": book, "origin": "printed", "verdict": verdict, "standing": verdict}
        for book, verdict in claims
    ]
    return ResultPage(
        name, f"experiments/{name}.html", {"section": section}, None, claims_of_result
    )


def test_a_claim_counts_for_the_text_that_makes_it() -> None:
    shared = result("fcml/a", "1.1", ("fcml", "reproduced"), ("prml", "differs"))
    own = result("prml/b", "2", ("prml", "reproduced"))
    books, topics = group_results([own, shared])
    assert [group.name for group in books] == ["fcml", "prml"]  # the order of the catalogue
    assert [len(group.results) for group in books] == [1, 1]
    assert [dict(group.verdict_counts["printed"]) for group in books] == [
        {"reproduced": 1},
        {"differs": 1, "reproduced": 1},
    ]
    (none,) = topics
    assert (none.name, len(none.claims)) == ("none", 3)


def test_an_unknown_book_comes_last_and_has_a_page() -> None:
    books, _ = group_results([result("mine/a"), *(result(f"{book}/x") for book in BOOKS)])
    assert [group.name for group in books] == [*BOOKS, "mine"]
    assert len({group.url for group in books}) == len(books)


def test_chapters_of_a_book_sections_of_an_article_books_of_a_topic() -> None:
    numbers = ["1.1", "1.10", "2", "Appendix A", ""]
    results = [result(f"fcml/{i}", section) for i, section in enumerate(numbers)]
    article = [result("ghahramani/a", "3.2")]
    (book, short), (topic,) = group_results([*results, *article])
    assert [(heading, len(part)) for heading, part in sections(book, by_book=False)] == [
        ("Chapter 1", 2),
        ("Chapter 2", 1),
        ("Appendix A", 1),
        ("Other", 1),
    ]
    assert [heading for heading, _ in sections(short, by_book=False)] == ["Section 3"]
    named = [heading for heading, _ in sections(topic, by_book=True)]
    assert named == [BOOKS["fcml"], BOOKS["ghahramani"]]
