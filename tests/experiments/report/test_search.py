"""The search index: words find their pages in British and American spelling."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.config.selection import SPELLING_VARIANTS, normalise_text
from bythebook.experiments.report import search


def pages(made: Any) -> list[list[str]]:
    """The pages in the index, which is an object literal that contains JSON."""
    text = made.text(search.FILE)
    start, end = text.index("pages: [") + len("pages: "), text.rindex("]}") + 1
    entries: list[list[str]] = json.loads(text[start:end])
    return entries


def matches(made: Any, words: str) -> list[str]:
    wanted = normalise_text(words).split()
    texts = {
        url: normalise_text(f"{title} {where}") + rest for url, title, where, rest in pages(made)
    }
    return [url for url, text in texts.items() if all(word in text for word in wanted)]


def test_every_result_and_erratum_is_indexed_once(made: Any) -> None:
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
def test_words_find_their_page(made: Any, words: str, page: str) -> None:
    assert page in matches(made, words)


def test_words_are_stored_in_one_spelling(made: Any) -> None:
    text = " ".join(page[3] for page in pages(made))
    for other, _ in SPELLING_VARIANTS[:3]:
        assert other not in text
    assert "polynomial order" in text or "polynomial" in text.split()


def test_it_is_a_script_without_markup(made: Any, tmp_path: Path) -> None:
    """The file is one assignment, and HTML in names stays inside strings."""
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
