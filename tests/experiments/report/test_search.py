"""The search index: what somebody types finds the page, in either spelling."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from experiments.configuration.selection import SPELLINGS, plain
from experiments.report import search


def pages(made: Any) -> list[list[str]]:
    """The index, read as a browser would: an object literal with JSON in it."""
    text = made.text(search.FILE)
    start, end = text.index("pages: [") + len("pages: "), text.rindex("]}") + 1
    found: list[list[str]] = json.loads(text[start:end])
    return found


def found(made: Any, words: str) -> list[str]:
    wanted = plain(words).split()
    texts = {url: plain(f"{title} {where}") + rest for url, title, where, rest in pages(made)}
    return [url for url, text in texts.items() if all(word in text for word in wanted)]


def test_every_result_and_erratum_is_in_it_once(made: Any) -> None:
    urls = [page[0] for page in pages(made)]
    assert len(urls) == len(set(urls))
    assert {f"experiments/{name}.html" for name in made.names} <= set(urls)
    assert sum(url.startswith("errata.html#") for url in urls) == 2
    assert {"books/fcml.html", "topics/regression.html"} <= set(urls)
    for url in urls:
        assert (made.root / url.partition("#")[0]).is_file()


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("fourth ORDER", "experiments/fcml/fig-8.8.html"),
        ("consistent", "experiments/fcml/fig-8.8.html"),
        ("not run", "experiments/mlapp/never.html"),
        ("polynomial_order", "experiments/fcml/fig-8.7.html"),
        ("First Course 8.1", "experiments/fcml/fig-8.8.html"),
        ("exact arithmetic", "errata.html#fcml-fig-8.8-argmin-loo_loss"),
    ],
)
def test_what_is_typed_finds_its_page(made: Any, words: str, page: str) -> None:
    assert page in found(made, words)


def test_words_are_kept_in_one_spelling(made: Any) -> None:
    text = " ".join(page[3] for page in pages(made))
    for other, _ in SPELLINGS[:3]:
        assert other not in text
    assert "polynomial order" in text or "polynomial" in text.split()


def test_it_is_a_script_without_markup(made: Any, tmp_path: Path) -> None:
    """Whatever a run says, the file is one assignment; hostile names stay in their strings."""
    text = made.text(search.FILE)
    assert text.startswith("window.bythebook = {")
    assert text.isascii()
    try:
        checked = subprocess.run(
            ["node", "-e", f"window = {{}}; {text}; console.log(window.bythebook.pages.length)"],
            capture_output=True,
            text=True,
            check=True,
        )
    except FileNotFoundError:
        pytest.skip("no node on this machine")
    assert int(checked.stdout) == len(pages(made))
