"""Selections of results: unions, restrictions, and messages about typing errors."""

import pytest

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.selection import (
    normalise_text,
    search_results,
    select_experiments,
)
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.registry import topic_of

NAMES = catalogue.experiment_names()


def test_an_empty_selection_is_all_results() -> None:
    assert select_experiments([]) == NAMES


@pytest.mark.parametrize("book", catalogue.BOOKS)
def test_a_book_is_the_sum_of_its_chapters(book: str) -> None:
    in_book = [name for name in NAMES if name.startswith(f"{book}/")]
    assert select_experiments([book]) == in_book
    parts: list[str] = []
    for chapter in range(1, 21):
        try:
            parts += select_experiments([f"{book}/{chapter}"])
        except InputError:
            continue
    unnumbered = [
        n for n in in_book if not str(catalogue.load_experiment(n).source["section"])[0].isdigit()
    ]
    assert sorted(parts + unnumbered) == sorted(in_book)


def test_a_chapter_is_not_a_prefix() -> None:
    sections = {
        str(catalogue.load_experiment(name).source["section"])
        for name in select_experiments(["prml/9"])
    }
    assert sections
    assert all(section.partition(".")[0] == "9" for section in sections)
    assert (
        select_experiments(["fcml/ch1"])
        == select_experiments(["fcml/1/"])
        == select_experiments(["fcml/1"])
    )


def test_patterns_studies_and_topics() -> None:
    figures = [n for n in NAMES if n.startswith("fcml/fig-1.")]
    assert select_experiments(["fcml/fig-1.*"]) == figures
    study = [n for n in NAMES if catalogue.load_experiment(n).study == "ridge_path"]
    assert select_experiments(["study:ridge_path"]) == study
    chains = [n for n in NAMES if topic_of(catalogue.load_experiment(n).study) == "chains"]
    assert select_experiments(["topic:chains"]) == chains
    assert set(select_experiments(["study:ridge_path", "topic:chains"])) == {*study, *chains}
    assert select_experiments(["fcml/fig-1.15", "fcml/fig-1.15"]) == ["fcml/fig-1.15"]


def test_a_verdict_restricts_the_selection() -> None:
    last = dict.fromkeys(NAMES, None) | {
        "fcml/fig-1.15": {"reproduced": 2},
        "fcml/fig-1.10": {"reproduced": 1, "erratum": 1},
        "prml/fig-9.8": {"erratum": 1, "by construction": 1},
    }

    def verdict_lookup(names: object) -> dict[str, dict[str, int] | None]:
        return {name: last[name] for name in names}  # type: ignore[attr-defined]

    assert select_experiments(["verdict:erratum"], None, verdict_lookup) == [
        "fcml/fig-1.10",
        "prml/fig-9.8",
    ]
    assert select_experiments(["fcml", "verdict:erratum"], None, verdict_lookup) == [
        "fcml/fig-1.10"
    ]
    assert select_experiments(["verdict:by-construction"], None, verdict_lookup) == ["prml/fig-9.8"]
    assert select_experiments(["fcml/fig-1.15", "verdict:erratum"], None, verdict_lookup) == []


def test_search_words_match_either_spelling() -> None:
    ours, theirs = (
        select_experiments([], "regularisation"),
        select_experiments([], "regularization"),
    )
    assert ours == theirs != []
    assert set(select_experiments(["notes"], "regularisation")) < set(ours)
    with pytest.raises(InputError, match="no result contains all of these words"):
        select_experiments([], "phlogiston")


def test_all_search_words_are_required_in_any_order() -> None:
    entry = catalogue.load_experiment("fcml/fig-1.15")
    assert search_results("order leave-one-out", entry)
    assert not search_results("order casino", entry)
    assert normalise_text("Modelling behaviour") == normalise_text("modeling BEHAVIOR")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("fcml/fig-1.51", "did you mean 'fcml/fig-1.5"),
        ("fcml/99", "matches no result"),
        ("study:ridge", r"no study 'ridge' \(did you mean 'ridge_path'\?\)"),
        ("study:", "no study ''"),
        ("topic:chain", r"did you mean 'chains'"),
        ("verdict:eratum", r"did you mean 'erratum'"),
        ("nothing/*", "matches no result; allowed: a book"),
        ("kind:x", "matches no result; allowed: a book"),
    ],
)
def test_an_unknown_word_is_reported(word: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        select_experiments([word])
