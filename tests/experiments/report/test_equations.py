"""The ledger of equations: a page a book, with gaps from recorded runs and source files."""

from types import SimpleNamespace
from typing import Any

from bythebook.experiments.core.equations import book_equations
from bythebook.experiments.report.equations import equation_pages, source_files
from bythebook.experiments.report.pages import environment
from bythebook.experiments.report.result_pages import ResultPage

NAME = "prml.expected_mixing"
GAPS = {"gap": 0.9, "corrected_gap": 1e-16, "cases": 20}


def result(equations: dict[str, Any]) -> ResultPage:
    record: Any = SimpleNamespace(equations=equations)
    claim = {"kind": "equation", "expression": NAME}
    return ResultPage("prml/a", "experiments/prml/a.html", {"book": "prml"}, record, [claim])


def test_an_equation_has_the_gaps_of_the_recorded_run() -> None:
    (page,) = equation_pages([result({NAME: GAPS})])
    assert page.url == "equations-prml.html"
    assert [entry.equation.name for entry in page.entries] == list(book_equations("prml"))
    entry = next(entry for entry in page.entries if entry.equation.name == NAME)
    assert entry.category == "equation erratum"
    assert (entry.gap, entry.corrected_gap) == ("gap 9.0e-01 in 20 random cases", "gap 1.0e-16")
    assert [found.name for found in entry.results] == ["prml/a"]
    others = [other for other in page.entries if other is not entry]
    assert {other.category for other in others} == {"not run"}


def test_source_files_are_copied_under_their_names() -> None:
    files = source_files(equation_pages([result({})]))
    assert files["equations/prml/ch10.py"].read_text().startswith('"""Equations of PRML 10')


def test_the_page_shows_both_forms_of_a_misprint() -> None:
    pages = equation_pages([result({NAME: GAPS})])
    templates = environment()
    known = {"books": [], "topics": [], "sweeps": [], "links": {}, "equations": pages}
    templates.globals.update(known, book_urls={}, topic_urls={}, result_urls={})
    text = templates.get_template("equations.html").render(
        root="", here=pages[0].url, page=pages[0]
    )
    article = text[text.index('id="expected_mixing"') :].partition("</article>")[0]
    assert article.count('<math display="block"') == 2
    assert "<dt>corrected</dt>" in article
    assert "def expected_mixing(rng: Generator) -&gt; Sides:" in article
    assert 'data-verdict="equation erratum"' in article
