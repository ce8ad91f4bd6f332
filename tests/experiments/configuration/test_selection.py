"""Selections: what adds up, what narrows down, and what a slip of the pen is told."""

import pytest

from experiments.configuration import catalogue
from experiments.configuration.selection import found, plain, select
from experiments.contract.errors import BadInput
from experiments.contract.places import topic

NAMES = catalogue.names()


def test_nothing_is_everything() -> None:
    assert select([]) == NAMES


@pytest.mark.parametrize("book", catalogue.BOOKS)
def test_a_book_is_the_sum_of_its_chapters(book: str) -> None:
    mine = [name for name in NAMES if name.startswith(f"{book}/")]
    assert select([book]) == mine
    parts: list[str] = []
    for chapter in range(1, 21):
        try:
            parts += select([f"{book}/{chapter}"])
        except BadInput:
            continue
    unnumbered = [n for n in mine if not str(catalogue.read(n).source["section"])[0].isdigit()]
    assert sorted(parts + unnumbered) == sorted(mine)


def test_a_chapter_is_not_a_prefix() -> None:
    sections = {str(catalogue.read(name).source["section"]) for name in select(["prml/9"])}
    assert sections
    assert all(section.partition(".")[0] == "9" for section in sections)
    assert select(["fcml/ch1"]) == select(["fcml/1/"]) == select(["fcml/1"])


def test_patterns_studies_and_topics() -> None:
    figures = [n for n in NAMES if n.startswith("fcml/fig-1.")]
    assert select(["fcml/fig-1.*"]) == figures
    study = [n for n in NAMES if catalogue.read(n).study == "ridge_path"]
    assert select(["study:ridge_path"]) == study
    chains = [n for n in NAMES if topic(catalogue.read(n).study) == "chains"]
    assert select(["topic:chains"]) == chains
    assert set(select(["study:ridge_path", "topic:chains"])) == {*study, *chains}
    assert select(["fcml/fig-1.15", "fcml/fig-1.15"]) == ["fcml/fig-1.15"]


def test_a_verdict_narrows_down() -> None:
    last = dict.fromkeys(NAMES, None) | {
        "fcml/fig-1.15": {"reproduced": 2},
        "fcml/fig-1.10": {"reproduced": 1, "erratum": 1},
        "prml/fig-9.8": {"erratum": 1, "by construction": 1},
    }

    def standings(names: object) -> dict[str, dict[str, int] | None]:
        return {name: last[name] for name in names}  # type: ignore[attr-defined]

    assert select(["verdict:erratum"], None, standings) == ["fcml/fig-1.10", "prml/fig-9.8"]
    assert select(["fcml", "verdict:erratum"], None, standings) == ["fcml/fig-1.10"]
    assert select(["verdict:by-construction"], None, standings) == ["prml/fig-9.8"]
    assert select(["fcml/fig-1.15", "verdict:erratum"], None, standings) == []


def test_words_are_found_in_either_spelling() -> None:
    ours, theirs = select([], "regularisation"), select([], "regularization")
    assert ours == theirs != []
    assert set(select(["notes"], "regularisation")) < set(ours)
    with pytest.raises(BadInput, match="finds nothing"):
        select([], "phlogiston")


def test_all_words_must_be_there_in_whatever_order() -> None:
    entry = catalogue.read("fcml/fig-1.15")
    assert found("order leave-one-out", entry)
    assert not found("order casino", entry)
    assert plain("Modelling behaviour") == plain("modeling BEHAVIOR")


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("fcml/fig-1.51", "did you mean 'fcml/fig-1.5"),
        ("fcml/99", "selects nothing"),
        ("study:ridge", r"no study 'ridge' \(did you mean 'ridge_path'\?\)"),
        ("study:", "no study ''"),
        ("topic:chain", r"did you mean 'chains'"),
        ("verdict:eratum", r"did you mean 'erratum'"),
        ("nothing/*", "selects nothing"),
        ("kind:x", "selects nothing"),
    ],
)
def test_a_slip_of_the_pen(word: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        select([word])
