"""What a user can get wrong fills a line, whatever is in it."""

import pickle

from hypothesis import given
from hypothesis import strategies as st

from experiments.contract.errors import LONGEST, BadInput, one_line


@given(st.text())
def test_a_line_is_printable_and_has_an_end(text: str) -> None:
    line = one_line(text)
    assert line.isprintable()
    assert line.splitlines() in ([line], [])
    assert len(line) <= LONGEST + len(" ...")


@given(st.text("abc ,.'=[]", max_size=LONGEST))
def test_words_stay_as_they_are(text: str) -> None:
    assert one_line(text).split() == text.split()


def test_a_text_without_end_is_cut() -> None:
    assert one_line("x" * 10**6) == "x" * LONGEST + " ..."


def test_problems_travel_between_processes() -> None:
    """A worker's refusal reaches the user as it was raised."""
    error = BadInput(["one\n problem", "two"])
    assert error.problems == ["one problem", "two"]
    assert str(error) == "one problem; two"
    assert pickle.loads(pickle.dumps(error)).problems == error.problems
    assert BadInput("one").problems == ["one"]
