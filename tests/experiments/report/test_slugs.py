"""Names of files and anchors, safe in any address and on any disk."""

import re

from hypothesis import given
from hypothesis import strategies as st

from experiments.report.slugs import humanised, slugs


def test_slugs_are_safe_and_differ() -> None:
    assert slugs(["a b", "a-b", "A B", "..", "x/../y"]) == [
        "a-b", "a-b-2", "A-B-3", "unnamed", "x/unnamed/y",
    ]  # fmt: skip


def test_acronyms_and_people_are_written_large() -> None:
    assert humanised("hmm_em_starts") == "HMM EM starts"
    assert humanised("bernoulli_mixture") == "Bernoulli mixture"


@given(st.lists(st.text(max_size=12), max_size=8))
def test_no_text_leaves_the_folder_or_meets_another(texts: list[str]) -> None:
    found = slugs(texts)
    assert len(found) == len(texts)
    assert len({name.lower() for name in found}) == len(texts)  # some disks know no case
    for name in found:
        assert re.fullmatch(r"[A-Za-z0-9._/-]+", name)
        assert not {"", ".", ".."} & set(name.split("/"))
