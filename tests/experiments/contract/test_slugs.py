"""Names of files and anchors, safe in any address and on any disk."""

import re

from hypothesis import given
from hypothesis import strategies as st

from experiments.contract.slugs import LONGEST, file_names, slugs


def test_slugs_are_safe_and_differ() -> None:
    assert slugs(["a b", "a-b", "A B", "..", "x/../y"]) == [
        "a-b", "a-b-2", "A-B-3", "unnamed", "x/unnamed/y",
    ]  # fmt: skip


@given(st.lists(st.text(max_size=12), max_size=8))
def test_no_text_leaves_the_folder_or_meets_another(texts: list[str]) -> None:
    found = slugs(texts)
    assert len(found) == len(texts)
    assert len({name.lower() for name in found}) == len(texts)  # some disks know no case
    for name in found:
        assert re.fullmatch(r"[A-Za-z0-9._/-]+", name)
        assert not {"", ".", ".."} & set(name.split("/"))


def test_a_file_name_has_no_slash_and_fits_a_disk() -> None:
    found = file_names(["../../x", "/etc/passwd", "a/b", "a-b", "x" * 1000])
    assert found == ["x", "etc-passwd", "a-b", "a-b-2", "x" * LONGEST]
