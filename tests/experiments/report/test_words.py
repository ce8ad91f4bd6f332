"""Names, durations, cells and sentences as the pages have them."""

from typing import Any

import pytest

from experiments.report import pages, provenance, sweeps, tables
from experiments.report.slugs import humanised, slugs


def test_long_tables_are_cut_and_say_so() -> None:
    sheet = tables.sheet("long", "long.csv", {"n": list(range(tables.ROWS + 7))})
    macros = pages.environment().get_template("macros.html").make_module({"root": "", "links": {}})
    shown = str(macros.sheet(sheet, "long"))  # type: ignore[attr-defined]
    assert f"the first {tables.ROWS} of {tables.ROWS + 7} rows" in shown


def test_slugs_are_safe_and_differ() -> None:
    assert slugs(["a b", "a-b", "A B", "..", "x/../y"]) == [
        "a-b", "a-b-2", "A-B-3", "unnamed", "x/unnamed/y",
    ]  # fmt: skip


def test_acronyms_and_people_are_written_large() -> None:
    assert humanised("hmm_em_starts") == "HMM EM starts"
    assert humanised("bernoulli_mixture") == "Bernoulli mixture"


@pytest.mark.parametrize(
    ("mean", "error", "words"),
    [
        (2.66667, 0.6667, "2.67 ± 0.67"),
        (296.7, 290.4, "297 ± 290"),
        (0.0666993, 0.00321, "0.0667 ± 0.0032"),
        (3.0, 0.0, "3"),
        (1 / 3, None, "0.333333"),
        (1e9, 2.5e-12, "1e+09 ± 2.5e-12"),
        (None, None, None),
    ],
)
def test_means_have_the_digits_that_their_errors_leave(mean: Any, error: Any, words: str) -> None:
    assert sweeps._pair(mean, error) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0004, "under 1 ms"),
        (0.25, "250 ms"),
        (59.94, "59.9 s"),
        (61, "1 min 01 s"),
        (7260, "2 h 01 min"),
    ],
)
def test_durations(seconds: float, words: str) -> None:
    assert provenance.duration(seconds) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, ""),
        (True, "true"),
        (1 / 3, "0.333333"),
        (-2.5e-7, "-2.5e-07"),
        ([1, [2.0, 3]], "1, [2, 3]"),
    ],
)
def test_cells(value: Any, words: str) -> None:
    assert pages.cell(value) == words


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("leave-one-out wins", "Leave-one-out wins."), ("k-fold wins!", "k-fold wins!"), ("", "")],
)
def test_sentences(text: str, sentence: str) -> None:
    assert pages.sentence(text) == sentence
