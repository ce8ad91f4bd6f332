"""The HTML of the pages: content, links and escaping."""

import re

import pytest

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.selection import normalise_text
from bythebook.experiments.explore import pages

NAMES = ["fcml/fig-1.15", "fcml/fig-1.16", "prml/fig-9.7"]


def test_the_list_contains_the_selection_by_book() -> None:
    html = pages.listing(NAMES)
    assert re.findall(r'href="/result/([^"]+)"', html) == NAMES
    assert html.count("<section") == 2
    assert "Machine Learning: a Probabilistic Perspective" not in html


def test_the_words_of_a_result_are_normalised() -> None:
    words = pages.entry("notes/2.1.3-regularisation")["words"]
    assert normalise_text("regularization").strip() in words
    assert normalise_text("Notes of PRML").strip() in words


@pytest.mark.parametrize("name", catalogue.experiment_names()[::10])
def test_every_result_has_its_page(name: str) -> None:
    html = pages.result([name], name, {}, None)
    claims = len(catalogue.load_experiment(name).body.get("claims", []))
    assert html.count('class="of-yours"') == html.count('class="of-book"') == claims
    assert not re.search(r">\s*None\s*<", html)
    labels = set(re.findall(r'<label for="([^"]+)"', html))
    assert labels <= set(re.findall(r' id="([^"]+)"', html))


def test_previous_and_next_result_are_selected_ones() -> None:
    html = pages.result(NAMES, NAMES[1], {}, None)
    assert f'rel="prev" href="/result/{NAMES[0]}"' in html
    assert f'rel="next" href="/result/{NAMES[2]}"' in html
    assert 'rel="prev"' not in pages.result(NAMES, NAMES[0], {}, None)


def test_texts_of_the_address_are_escaped_in_the_widgets() -> None:
    hostile = '"><img src=x onerror=alert(1)>'
    texts = {"study.orders": hostile, "study.curve": hostile, "study.n": hostile, "view": "both"}
    html = pages.result(NAMES, NAMES[0], texts, None)
    assert "<img src=x" not in html
    assert html.count("&lt;img src=x") >= 3
    assert "Unknown parameters" not in html


def test_pages_contain_no_inline_script_or_style() -> None:
    for html in (pages.listing(NAMES), pages.result(NAMES, NAMES[0], {}, None)):
        assert re.findall(r"<script[^>]*>([^<]*)<", html) == [""]
        assert " style=" not in html
        assert not re.search(r"\son\w+=", html)
        assert "http://" not in html
        assert "https://" not in html
