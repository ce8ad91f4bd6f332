"""Blocks and rows of claims, from verdicts that are written by hand."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_verdicts import (
    ALL,
    CHECK,
    CONSTRUCTED,
    EQUATION,
    ERRATUM,
    FAILED_CHECK,
    STATEMENT,
    WRONG_EQUATION,
    verdict,
)

from bythebook.experiments.core.claim_blocks import (
    BLOCKS,
    claim_blocks,
    claim_entry,
    claim_row,
)
from bythebook.experiments.core.claims import Claim


def test_each_block_has_its_own_heading_and_count() -> None:
    assert [(block.title, [row.says for row in block.rows]) for block in claim_blocks(ALL)] == [
        ("Printed claims: 1 reproduced, 1 erratum", ["the loss", "it falls"]),
        ("Equations: 1 holds, 1 erratum", ["the update", "the update"]),
        ("By construction: 1", ["it adds up"]),
        ("Errata by reading: 1", ["a hat is missing"]),
        ("Derived checks: 1 of 2 hold", ["the library agrees", "the limit agrees"]),
    ]
    assert [row.index for block in claim_blocks(ALL) for row in block.rows] == [
        *(1, 5, 2, 7, 3, 6, 0, 4)
    ]


@given(st.lists(st.sampled_from(ALL), max_size=40))
def test_a_claim_is_in_one_block_and_no_count_covers_two(verdicts: list[dict[str, Any]]) -> None:
    blocks = claim_blocks(verdicts)
    assert sorted(row.index for block in blocks for row in block.rows) == list(range(len(verdicts)))
    assert [block.name for block in blocks] == [
        name for name in BLOCKS if name in {block.name for block in blocks}
    ]
    own = {
        "printed": ("the loss", "it falls"),
        "equations": ("the update",),
        "construction": ("it adds up",),
        "reading": ("a hat is missing",),
        "derived": ("the library agrees", "the limit agrees"),
    }
    for block in blocks:
        members = [v for v in verdicts if v["says"] in own[block.name]]
        assert len(block.rows) == len(members)
        # An equation, like an erratum with a cause, may be counted once for several places.
        numbers = [int(word) for word in block.count.replace(",", "").split() if word.isdigit()]
        assert max(numbers) <= len(members)


def test_a_failed_check_is_listed_apart() -> None:
    (block,) = claim_blocks([CHECK, FAILED_CHECK])
    assert [row.says for row in block.failed] == ["the limit agrees"]
    assert [row.says for row in block.others] == ["the library agrees"]
    better = CHECK | {"as_expected": False, "expected": "differs"}  # the file is out of date
    assert len(claim_blocks([CHECK, better])[0].failed) == 1
    (row,) = block.failed
    assert row.verdict_text == "differs (expected reproduced)"
    assert [(note.label, note.text) for note in row.notes] == [("Computed", "1 == 2")]


def test_a_row_shows_numbers_first_and_folds_the_expression() -> None:
    row = claim_row(STATEMENT)
    assert (row.says, row.printed, row.computed, row.verdict) == (
        *("it falls", "", "holds", "reproduced"),
    )
    assert row.notes == ()
    assert [(entry.label, entry.text, entry.is_code) for entry in row.details] == [
        ("Tested", "argmin(loss)", True),
        ("Computed", "1 < 2", False),
        ("Rule", "rounds to the printed digits", False),
        ("Data", "book", False),
    ]


def test_all_facts_of_a_claim_are_folded_in_order() -> None:
    row = claim_row(
        verdict(
            let={"gap": "loss[8] - loss[1]", "twice(a)": "2 * a"},
            quantifier="most draws",
            reading="a loss is a mean",
            because="Tolerance: rounding",
            place="notes 3.3",
            changed="Before: 2. Now: 3.",
            instead="loss > 2",
            weak=True,
        ),
        seeds=[20, 20],
    )
    assert [(entry.label, entry.text) for entry in row.details] == [
        ("Tested", "argmin(loss)"),
        ("Where", "gap = loss[8] - loss[1]"),
        ("Where", "twice(a) = 2 * a"),
        ("In", "most draws"),
        ("Reading", "a loss is a mean"),
        ("Tested instead", "loss > 2"),
        ("Rule", "rounds to the printed digits"),
        ("Source", "Tolerance: rounding"),
        ("Data", "book"),
        ("Seeds", "the expected verdict in 20 of 20 seeds"),
        ("Text", "notes 3.3"),
        ("Change of the claim", "Before: 2. Now: 3."),
    ]
    assert row.verdict_text == "reproduced (weak)"


def test_a_correction_and_disagreeing_seeds_are_not_folded() -> None:
    (block,) = claim_blocks([ERRATUM], [[18, 20]], ["the table was rounded"])
    assert [(note.label, note.text) for note in block.rows[0].notes] == [
        ("Corrected", "0.5"),
        ("Cause", "the table was rounded"),
        ("Explanation", "a wrong digit"),
        ("Seeds", "the expected verdict in 18 of 20 seeds"),
    ]


@pytest.mark.parametrize(
    ("claim", "word"),
    [
        (CONSTRUCTED, "by construction"),
        (CONSTRUCTED | {"verdict": "differs", "standing": "differs"}, "differs"),
        (EQUATION, "holds"),
        (WRONG_EQUATION, "erratum"),
        (CHECK | {"by": "construction", "standing": "by construction"}, "reproduced"),
    ],
)
def test_the_word_of_a_verdict(claim: dict[str, Any], word: str) -> None:
    assert claim_row(claim).verdict == word


def test_a_claim_without_a_run_has_no_verdict() -> None:
    claim = Claim(
        says="the loss", value="loss", printed="0.4", expect="erratum", corrected="0.5", why="0.5"
    )
    (block,) = claim_blocks([claim_entry(claim)])
    (row,) = block.rows
    assert block.title == "Printed claims: 1"
    assert (row.printed, row.computed, row.verdict, row.notes) == ("0.4", "", "", ())
    assert [(entry.label, entry.text) for entry in row.details] == [("Tested", "loss")]
    construct = Claim(says="it adds up", holds="loss > 0", by="construction")
    assert [block.name for block in claim_blocks([claim_entry(construct)])] == ["construction"]


def test_no_claims_have_no_blocks() -> None:
    assert claim_blocks([]) == []
