"""Safe names of files and anchors."""

import re

from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.core.slugs import MAX_CHARS, unique_file_names, unique_slugs


def test_slugs_are_safe_and_differ() -> None:
    assert unique_slugs(["a b", "a-b", "A B", "..", "x/../y"]) == [
        "a-b", "a-b-2", "A-B-3", "unnamed", "x/unnamed/y",
    ]  # fmt: skip


@given(st.lists(st.text(max_size=12), max_size=8))
def test_any_texts_give_safe_and_different_names(texts: list[str]) -> None:
    found = unique_slugs(texts)
    assert len(found) == len(texts)
    assert len({name.lower() for name in found}) == len(texts)  # some file systems ignore case
    for name in found:
        assert re.fullmatch(r"[A-Za-z0-9._/-]+", name)
        assert not {"", ".", ".."} & set(name.split("/"))


def test_a_file_name_has_no_slash_and_a_bounded_length() -> None:
    found = unique_file_names(["../../x", "/etc/passwd", "a/b", "a-b", "x" * 1000])
    assert found == ["x", "etc-passwd", "a-b", "a-b-2", "x" * MAX_CHARS]
