"""HTML for notebooks: escaped texts, claims, images."""

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

from sample_verdicts import ALL, verdict

from bythebook.experiments.api import html
from bythebook.experiments.core.claim_blocks import claim_blocks, claim_row

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
    evil = verdict(
        **dict.fromkeys(
            ("says", "expression", "printed", "evidence", "standing", "why", "changed"),
            EVIL,
        ),
        let={"a": EVIL},
        as_expected=False,
        expected=EVIL,
        judged=EVIL + ".",
        computed=EVIL,
    )
    parts = [
        *(EVIL, html.bold(EVIL, EVIL), html.code(EVIL), html.collapsible(EVIL, EVIL)),
        *(html.verdict_badge(EVIL, EVIL), html.table([EVIL], [[EVIL]]), html.claims([evil])),
        html.claim(claim_row(evil), EVIL),
    ]
    page = ParsedPage(html.vertical(*parts))
    assert "script" not in page.tags
    assert page.text.count(EVIL) == 10 + 11 + 12


def test_the_row_of_a_claim_shows_an_unexpected_verdict() -> None:
    claim = verdict("it falls", verdict="differs", standing="differs", weak=True, as_expected=False)
    text = ParsedPage(html.claims([claim])).text
    assert "differs (weak, expected reproduced) it falls: printed 3, computed 3.00" in text


def test_blocks_are_separate_and_expressions_are_closed() -> None:
    page = html.claims(ALL)
    titles = [block.title for block in claim_blocks(ALL)]
    places = [page.index(f"<b>{title}</b>") for title in titles]
    assert places == sorted(places)
    assert "<details open" not in page
    # A derived check that holds is in the closed block, one that fails is not.
    parts = re.split(r"(<details>|</details>)", page)
    depth = 0
    depths: dict[str, int] = {}
    for part in parts:
        depth += {"<details>": 1, "</details>": -1}.get(part, 0)
        for claim in ALL:
            if claim["says"] in part:
                depths.setdefault(claim["says"], depth)
        assert "argmin(loss)" not in part or depth >= 1
    assert depths["the loss"] == depths["the limit agrees"] == 1
    assert depths["the library agrees"] == 2


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
