"""HTML for notebooks: escaped texts, claims, images."""

import base64
from html.parser import HTMLParser
from pathlib import Path

from bythebook.experiments.api import html

EVIL = "<script>alert('x')</script> & \"y\""


class ParsedPage(HTMLParser):
    """Tags and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sources: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [value or "" for name, value in attrs if name == "src"]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_everything_is_escaped() -> None:
    verdict = {
        **dict.fromkeys(("says", "expression", "printed", "evidence", "standing"), EVIL),
        "expected": EVIL,
        "computed": "",
        "weak": True,
        "as_expected": False,
        "origin": "derived",
    }
    parts = [
        *(EVIL, html.bold(EVIL, EVIL), html.code(EVIL), html.collapsible(EVIL, EVIL)),
        *(html.verdict_badge(EVIL, EVIL), html.table([EVIL], [[EVIL]]), html.claims([verdict])),
    ]
    page = ParsedPage(html.vertical(*parts))
    assert "script" not in page.tags
    assert page.text.count(EVIL) == 16


def test_the_row_of_a_claim_shows_an_unexpected_verdict() -> None:
    verdict = {
        "says": "it falls",
        "expression": "falls(a)",
        "printed": None,
        "evidence": "",
        "computed": "fails",
        "standing": "differs",
        "weak": True,
        "as_expected": False,
        "expected": "reproduced",
        "origin": "printed",
    }
    text = ParsedPage(html.claims([verdict])).text
    assert "differs (weak) (expected reproduced)" in text
    assert "fails" in text


def test_at_most_four_images_are_embedded(tmp_path: Path) -> None:
    paths = []
    for number in range(html.MAX_FIGURES + 2):
        paths.append(tmp_path / f"'{number}>.png")
        paths[-1].write_bytes(bytes([number]))
    page = ParsedPage(html.inline_images(paths))
    start = "data:image/png;base64,"
    contents = [base64.b64decode(source.removeprefix(start)) for source in page.sources]
    assert contents == [bytes([number]) for number in range(html.MAX_FIGURES)]
    assert page.text == "and 2 more: .figures()"
