"""Results by their names: exact, unique beginning, former name, other printed item."""

from collections import Counter

import pytest

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.result_names import (
    find_result,
    printed_items,
    require_result,
    unknown_result_message,
)
from bythebook.experiments.core.errors import InputError

NAMES = catalogue.experiment_names()
LogCapture = pytest.LogCaptureFixture


def own_items() -> dict[str, str]:
    """Each printed item that belongs to one result only, and is not a result's name."""
    covered = {
        name: {f"{name.partition('/')[0]}/{item}" for item in printed_items(heading.item)}
        for name in NAMES
        for heading in [catalogue.load_heading(name)]
    }
    counts = Counter(item for items in covered.values() for item in items)
    return {
        item: name
        for name, items in covered.items()
        for item in items
        if counts[item] == 1 and item not in NAMES
    }


@pytest.mark.parametrize("name", NAMES)
def test_an_exact_name_is_the_result_and_logs_nothing(name: str, caplog: LogCapture) -> None:
    assert find_result(name) == name
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("prml/10.7.2", "prml/10.7.2-ep-is-bp"),
        ("prml/10.7.2-ep", "prml/10.7.2-ep-is-bp"),
        ("prml/fig-10.10-tangents", "prml/fig-10.10"),
        ("fcml/table-1.1", "fcml/tab-1.1"),
        ("fcml/table-1.1-olympics", "fcml/tab-1.1"),
        ("prml/ex-10.31", "prml/fig-10.12"),
    ],
)
def test_another_name_is_found_and_reported(word: str, name: str, caplog: LogCapture) -> None:
    assert find_result(word) == require_result(word) == name
    assert caplog.messages[0] == f"bythebook: {word} is the result {name}"


@pytest.mark.parametrize("word", ["prml/fig-8.3", "mlapp/fig-18.1", "prml/fig-1", "prml/fig-"])
def test_a_beginning_does_not_end_within_a_number(word: str, caplog: LogCapture) -> None:
    assert any(name.startswith(word) for name in NAMES)
    assert find_result(word) is None
    assert caplog.text == ""


@pytest.mark.parametrize(
    "word", ["", "prml", "fcml/", "PRML/fig-8.30", "../prml/fig-8.30", "fcml/zz"]
)
def test_other_words_name_no_result(word: str) -> None:
    assert find_result(word) is None


def test_an_ambiguous_beginning_lists_the_results() -> None:
    beginning = "ghahramani/3-em"
    matches = [name for name in NAMES if name.startswith(beginning)]
    assert len(matches) == 3
    line = f"'{beginning}' is the beginning of {len(matches)} results: {', '.join(matches)}"
    assert unknown_result_message(beginning) == line
    with pytest.raises(InputError) as error:
        require_result(beginning)
    assert error.value.problems == [line]


def test_an_unknown_name_is_reported_with_a_suggestion() -> None:
    line = unknown_result_message("fcml/fig-1.155")
    assert line == (
        "there is no result 'fcml/fig-1.155' (did you mean 'fcml/fig-1.15'?);"
        f" `bythebook list` shows all {len(NAMES)}"
    )


@pytest.mark.parametrize(
    ("heading", "items"),
    [
        ("Figures 10.1 and 10.14", ["fig-10.1", "fig-10.14"]),
        ("Figure 10.10, Exercises 10.29 and 10.30", ["fig-10.10", "ex-10.29", "ex-10.30"]),
        ("Exercises 5.4 to 5.7", ["ex-5.4", "ex-5.5", "ex-5.6", "ex-5.7"]),
        ("Exercises 4.6-4.8", ["ex-4.6", "ex-4.7", "ex-4.8"]),
        ("Table 1.1", ["tab-1.1"]),
        ("Equation (14.14)", ["eq-14.14"]),
        ("Figure A.1", ["fig-a.1"]),
        ("Section 3.3", []),
    ],
)
def test_the_items_of_a_heading(heading: str, items: list[str]) -> None:
    assert sorted(printed_items(heading)) == sorted(items)


def test_every_item_of_one_result_names_it() -> None:
    items = own_items()
    assert len(items) > 400
    assert {item: find_result(item) for item in items} == items
