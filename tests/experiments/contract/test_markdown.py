"""Text in Markdown stays text, whoever renders it."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from experiments.contract.markdown import code, words

EVIL = "a < b <img src=x onerror=alert(1)> *c* _d_ `e` [f](javascript:g) $h$ | ~~i~~ & #"
LINKS = ("http://evil.example/x", "see www.evil.example", "mail me@evil.example", "MAILTO:a@b.c")


def rendered(text: str) -> str:
    """What a reader sees of Markdown: one paragraph of words, if nothing in it means anything."""
    page = MarkdownIt("js-default", {"html": True}).enable("table").render(text)
    found = re.fullmatch(r"<p>([^<>]*)</p>\n", page)
    assert found, page
    return unescape(found[1])


def test_words_stay_words() -> None:
    safe = words(EVIL)
    assert rendered(safe) == EVIL
    assert "$" not in safe  # which a notebook takes for mathematics before it reads Markdown
    for begun in ("# a", "- a", "1. a", "+ a", "> a", "a\n---", "    a", "![a](b)", "~~a~~"):
        assert rendered(f"words: {words(begun)}") == f"words: {' '.join(begun.split())}"


@pytest.mark.parametrize("text", LINKS)
def test_an_address_is_shown_and_is_no_link(text: str) -> None:
    """MLflow's page makes links of what begins like an address."""
    safe = words(text)
    assert rendered(safe) == text
    assert not re.search(r"(?i)://|www\.|mailto:|@", safe)


@given(st.text(alphabet="ab []()!<>`*_|#~&\\\n-+1.:/@$\t", max_size=30))
def test_no_text_becomes_anything_else(text: str) -> None:
    assert rendered(f"x {words(text)}").split() == f"x {text}".split()


def test_an_expression_with_ticks_stays_code() -> None:
    assert code("a `b` ``c``") == "``` a `b` ``c`` ```"
    assert code("a\n b") == "`a b`"
