"""Verdicts on claims: the printed digits are the tolerance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.contract.claims import Claim, Verdict, judge, number, rounds_to, shown
from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome, axis


def verdict(outcome: Outcome, **fields: object) -> str:
    return judge(Claim(says="it is so", **fields), outcome, "book").verdict  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "printed", "agrees"),
    [
        (36.416456, "36.416", True),
        (36.416456, "36.4165", True),
        (36.4164, "36.4165", False),
        (-0.013330886, "-0.0133", True),
        (0.013330886, "-0.0133", False),
        (0.458497, "0.459", False),
        (0.4585, "0.459", True),  # half-way rounds either way
        (0.4585, "0.458", True),
        (1.520390e-06, "1.5204e-6", True),
        (1.5206e-06, "1.5204e-6", False),
        (3812975.56, "3.8130e6", True),
        (3813051.0, "3.8130e6", False),
        (20268.068, "20,268.1", True),
        (2592, "2592", True),
        (2593, "2592", False),
        (3, "3", True),
        (2.6, "3", True),
        (float("nan"), "3", False),
        (float("inf"), "3", False),
        (True, "1", False),
    ],
)
def test_a_value_agrees_if_it_rounds_to_the_printed_digits(
    value: float, printed: str, agrees: bool
) -> None:
    assert rounds_to(value, printed) is agrees


def test_a_whole_number_is_not_rounded() -> None:
    assert not rounds_to(4, "3.6")  # a count is exact: 4 is not "about 3.6"


def test_a_wider_tolerance_needs_its_reason() -> None:
    assert rounds_to(10.96, "11", within=0.1)
    with pytest.raises(BadInput, match="because"):
        Claim(says="close to eleven", value="m", printed="11", within=0.1)


@pytest.mark.parametrize("text", ["", "about 3", "nan", "inf", "3 s"])
def test_only_numbers_are_printed_numbers(text: str) -> None:
    assert number(text) is None
    with pytest.raises(BadInput, match="not a number"):
        Claim(says="x", value="m", printed=text)


def test_printed_number() -> None:
    outcome = Outcome(loss=0.458497)
    assert verdict(outcome, value="loss", printed="0.458") == "reproduced"
    assert verdict(outcome, value="loss", printed="0.459") == "differs"
    fields = {"printed": "0.459", "corrected": "0.458", "why": "twice", "expect": "erratum"}
    assert verdict(outcome, value="loss", **fields) == "erratum"
    wrong = {**fields, "corrected": "0.457"}
    assert verdict(outcome, value="loss", **wrong) == "differs"


def test_an_erratum_that_the_run_refutes_is_reproduced_and_so_unexpected() -> None:
    claim = Claim("x", "loss", printed="0.46", corrected="0.5", why="?", expect="erratum")
    found = judge(claim, Outcome(loss=0.4585), "book")
    assert (found.verdict, found.as_expected) == ("reproduced", False)


def test_a_statement_keeps_its_evaluated_sides() -> None:
    outcome = Outcome(loss=axis("order", [1, 2, 3]).of([0.0641, 0.05, 0.0782]), order=5)
    claim = Claim("x", holds="loss[3] > max(loss[1:2])")
    found = judge(claim, outcome, "book")
    assert (found.verdict, found.evidence) == ("reproduced", "0.0782 > 0.0641")
    assert verdict(outcome, holds="3 <= order <= 8") == "reproduced"
    assert verdict(outcome, holds="6 <= order <= 8") == "differs"
    assert verdict(outcome, holds="6 <= order <= 8", corrected="5", why="?") == "erratum"
    with pytest.raises(BadInput, match="true or false"):
        verdict(outcome, holds="loss[1]")
    with pytest.raises(BadInput, match="true or false"):
        verdict(outcome, holds="loss < 1")
    with pytest.raises(BadInput, match="a number is needed"):
        verdict(outcome, value="loss", printed="1")


@pytest.mark.parametrize(
    ("as_printed", "corrected", "expected"),
    [(0.5, 0.0, "erratum"), (0.5, 0.5, "differs"), (0.0, 0.0, "reproduced")],
)
def test_an_erratum_of_words_shows_what_is_right_too(
    as_printed: float, corrected: float, expected: str
) -> None:
    claim = Claim(
        "x",
        holds="as_printed < 0.1",
        instead="corrected < 0.1",
        corrected="with its sign",
        why="?",
        expect="erratum",
    )
    found = judge(claim, Outcome(as_printed=as_printed, corrected=corrected), "book")
    assert found.verdict == expected
    if expected != "reproduced":
        assert found.evidence == f"0.5 < 0.1; instead {corrected:g} < 0.1"


def drawn(values: object, printed: str) -> Verdict:
    outcome = Outcome(d=axis("draw", len(values)).of(values))  # type: ignore[arg-type]
    return judge(Claim("x", draws="d", printed=printed), outcome, "book")


def test_a_draw_is_held_against_its_tails_from_the_printed_rounding_on() -> None:
    draws = np.arange(1000) + 0.5
    assert drawn(draws, "25.0").verdict == "consistent"  # 25 of a thousand are below 25.05
    assert drawn(draws, "24.4").verdict == "differs"
    assert drawn(draws, "975.5").verdict == "consistent"
    assert drawn(draws, "975.7").verdict == "differs"
    assert drawn(draws, "24").verdict == "consistent"  # 24.5 rounds to it
    assert drawn([0.99, 1.0, 1.01], "1").weak is False
    assert drawn([0.1, 1.0, 10.0], "1").weak is True
    with pytest.raises(BadInput, match="repetitions are needed"):
        verdict(Outcome(d=axis("draw", 2).of([1, 2])), draws="max(d)", printed="1")


def test_a_drawn_whole_number_is_held_against_all_that_are_no_more_frequent() -> None:
    draws = np.repeat([1, 2, 3, 4, 7], [500, 440, 30, 29, 1])
    # of 3, 4 and 7 together there are 60 in a thousand; of 4 and 7 only 30
    passes = {"1": True, "2": True, "3": True, "4": False, "7": False, "5": False}
    for printed, consistent in passes.items():
        found = drawn(draws, printed)
        assert found.verdict == ("consistent" if consistent else "differs"), printed
    assert drawn(draws, "3").weak is False  # three of the seven from 1 to 7 would have passed
    assert drawn(np.repeat([1, 2, 3], 100), "2").weak is True
    assert drawn([3] * 100, "3").weak is False


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.integers(0, 6))
def test_the_rule_for_whole_numbers_by_its_definition(values: list[int], printed: int) -> None:
    share = {v: values.count(v) / len(values) for v in set(values)}
    chance = sum(s for s in share.values() if s <= share.get(printed, 0) + 1e-12)
    expected = printed in share and chance >= 0.05 - 1e-12
    assert (drawn(values, str(printed)).verdict == "consistent") is expected


def test_without_the_original_file_a_claim_that_needs_it_is_untested() -> None:
    outcome = Outcome(errors=12)
    claim = Claim("x", "errors", printed="12", needs="corpus")
    without, with_it = (judge(claim, outcome, "book", had) for had in ((), {"corpus"}))
    assert (without.verdict, without.as_expected) == ("untested", True)
    assert "original file of corpus" in without.judged
    assert (with_it.verdict, with_it.as_expected) == ("reproduced", True)
    never = Claim("x", "errors", printed="12", expect="untested", why="the corpus is lost")
    assert judge(never, outcome, "book", {"corpus"}).verdict == "untested"


def test_only_what_holds_by_construction_is_counted_apart() -> None:
    outcome = Outcome(loss=1.0)
    for holds, by, standing in [
        ("loss == 1", None, "reproduced"),
        ("loss == 1", "construction", "by construction"),
        ("loss == 2", "construction", "differs"),
    ]:
        assert judge(Claim("x", holds=holds, by=by), outcome, "book").standing == standing


def test_a_claim_about_nothing_names_what_was_meant_and_what_there_is() -> None:
    with pytest.raises(BadInput, match=r"no 'los' \(did you mean 'loss'\?\); .* gives: loss"):
        verdict(Outcome(loss=1.0), value="los", printed="1")


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"holds": "m", "says": ""}, "says nothing"),
        ({}, "exactly one"),
        ({"value": "m", "draws": "d", "printed": "1"}, "exactly one"),
        ({"holds": "m", "expect": "maybe"}, "not a verdict"),
        ({"holds": "m", "origin": "rumour"}, "unknown"),
        ({"holds": "m", "by": "magic"}, "by=magic is unknown"),
        ({"holds": "m", "printed": "1"}, "takes no `printed`"),
        ({"holds": "m <"}, "invalid syntax"),
        ({"value": "m"}, "needs the `printed` value"),
        ({"draws": "d"}, "needs the `printed` value"),
        ({"holds": "m", "expect": "differs"}, "needs `why`"),
        ({"holds": "m", "expect": "untested"}, "needs `why`"),
        ({"value": "m", "printed": "1", "expect": "erratum", "why": "x"}, "needs `corrected`"),
        ({"holds": "m", "instead": "n"}, "`instead` is of a statement"),
        ({"holds": "m", "instead": "n <"}, "invalid syntax"),
    ],
)
def test_a_claim_that_makes_no_sense_is_refused(fields: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        Claim(**{"says": "something", **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "printed", "text"),
    [
        (36.416456, "36.416", "36.41646"),
        (1.520390e-06, "1.5204e-6", "1.520390e-06"),
        (3, "3", "3"),
        (0.0623456789, None, "0.0623457"),
    ],
)
def test_values_are_shown_with_two_digits_more_than_printed(
    value: float, printed: str | None, text: str
) -> None:
    assert shown(value, printed) == text
