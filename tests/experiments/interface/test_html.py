"""HTML for notebooks: what comes from elsewhere is text, and pictures keep their proportions."""

import base64
from html.parser import HTMLParser
from pathlib import Path

from experiments.interface import html

EVIL = "<script>alert('x')</script> & \"y\""


class Read(HTMLParser):
    """Tags and text, as a browser would see them."""

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
        *(EVIL, html.bold(EVIL, EVIL), html.code(EVIL), html.folded(EVIL, EVIL)),
        *(html.verdict(EVIL, EVIL), html.table([EVIL], [[EVIL]]), html.claims([verdict])),
    ]
    page = Read(html.block(*parts))
    assert "script" not in page.tags
    assert page.text.count(EVIL) == 16


def test_a_claims_row_says_what_is_not_as_expected() -> None:
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
    text = Read(html.claims([verdict])).text
    assert "differs (weak) (expected reproduced)" in text
    assert "fails" in text


def test_pictures_are_inside_the_page_and_a_few_of_them_only(tmp_path: Path) -> None:
    paths = []
    for number in range(html.SHOWN + 2):
        paths.append(tmp_path / f"'{number}>.png")
        paths[-1].write_bytes(bytes([number]))
    page = Read(html.images(paths))
    start = "data:image/png;base64,"
    contents = [base64.b64decode(source.removeprefix(start)) for source in page.sources]
    assert contents == [bytes([number]) for number in range(html.SHOWN)]
    assert page.text == "and 2 more: .figures()"
