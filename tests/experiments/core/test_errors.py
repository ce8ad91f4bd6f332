"""Input errors: one printable line of bounded length for each problem."""

import pickle

from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.core.errors import MAX_LINE_CHARS, InputError, single_line


@given(st.text())
def test_a_line_is_printable_and_bounded(text: str) -> None:
    line = single_line(text)
    assert line.isprintable()
    assert line.splitlines() in ([line], [])
    assert len(line) <= MAX_LINE_CHARS + len(" ...")


@given(st.text("abc ,.'=[]", max_size=MAX_LINE_CHARS))
def test_printable_words_are_unchanged(text: str) -> None:
    assert single_line(text).split() == text.split()


def test_a_long_text_is_truncated() -> None:
    assert single_line("x" * 10**6) == "x" * MAX_LINE_CHARS + " ..."


def test_problems_survive_pickling() -> None:
    """A worker process raises them, the main process reports them."""
    error = InputError(["one\n problem", "two"])
    assert error.problems == ["one problem", "two"]
    assert str(error) == "one problem; two"
    assert pickle.loads(pickle.dumps(error)).problems == error.problems
    assert InputError("one").problems == ["one"]
