"""Escaping of text for Markdown, checked with a Markdown renderer."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bythebook.experiments.core.markdown import escape_markdown, inline_code

EVIL = "a < b <img src=x onerror=alert(1)> *c* _d_ `e` [f](javascript:g) $h$ | ~~i~~ & #"
LINKS = ("http://evil.example/x", "see www.evil.example", "mail me@evil.example", "MAILTO:a@b.c")


def rendered(text: str) -> str:
    """The rendered text, which must be one paragraph without markup."""
    page = MarkdownIt("js-default", {"html": True}).enable("table").render(text)
    found = re.fullmatch(r"<p>([^<>]*)</p>\n", page)
    assert found, page
    return unescape(found[1])


def test_escaped_text_renders_unchanged() -> None:
    safe = escape_markdown(EVIL)
    assert rendered(safe) == EVIL
    assert "$" not in safe  # a notebook reads formulas before Markdown
    for begun in ("# a", "- a", "1. a", "+ a", "> a", "a\n---", "    a", "![a](b)", "~~a~~"):
        assert rendered(f"words: {escape_markdown(begun)}") == f"words: {' '.join(begun.split())}"


@pytest.mark.parametrize("text", LINKS)
def test_an_address_is_not_linked(text: str) -> None:
    """MLflow's page links text that begins like an address."""
    safe = escape_markdown(text)
    assert rendered(safe) == text
    assert not re.search(r"(?i)://|www\.|mailto:|@", safe)


@given(st.text(alphabet="ab []()!<>`*_|#~&\\\n-+1.:/@$\t", max_size=30))
def test_any_text_renders_unchanged(text: str) -> None:
    assert rendered(f"x {escape_markdown(text)}").split() == f"x {text}".split()


def test_code_with_backticks_is_delimited_by_more() -> None:
    assert inline_code("a `b` ``c``") == "``` a `b` ``c`` ```"
    assert inline_code("a\n b") == "`a b`"
