"""Verdicts on claims: the printed digits are the tolerance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.core.claims import (
    Claim,
    Verdict,
    format_value,
    judge,
    matches_printed,
    parse_printed_number,
)
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome, axis, over


def verdict(outcome: Outcome, **fields: object) -> str:
    return judge(Claim(says="the statement", **fields), outcome, "book").verdict  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "printed", "agrees"),
    [
        (36.416456, "36.416", True),
        (36.416456, "36.4165", True),
        (36.4164, "36.4165", False),
        (-0.013330886, "-0.0133", True),
        (0.013330886, "-0.0133", False),
        (0.458497, "0.459", False),
        (0.4585, "0.459", True),  # a tie rounds either way
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
    assert matches_printed(value, printed) is agrees


def test_a_whole_number_is_not_rounded() -> None:
    assert not matches_printed(4, "3.6")  # a count is exact: 4 is not "about 3.6"


def test_a_wider_tolerance_needs_its_reason() -> None:
    assert matches_printed(10.96, "11", within=0.1)
    with pytest.raises(InputError, match="because"):
        Claim(says="close to eleven", value="m", printed="11", within=0.1)


@pytest.mark.parametrize("text", ["", "about 3", "nan", "inf", "3 s"])
def test_only_numbers_are_printed_numbers(text: str) -> None:
    assert parse_printed_number(text) is None
    with pytest.raises(InputError, match="not a valid printed number"):
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


def test_a_statement_records_its_evaluated_sides() -> None:
    outcome = Outcome(loss=axis("order", [1, 2, 3]).of([0.0641, 0.05, 0.0782]), order=5)
    claim = Claim("x", holds="loss[3] > max(loss[1:2])")
    found = judge(claim, outcome, "book")
    assert (found.verdict, found.evidence) == ("reproduced", "0.0782 > 0.0641")
    assert verdict(outcome, holds="3 <= order <= 8") == "reproduced"
    assert verdict(outcome, holds="6 <= order <= 8") == "differs"
    assert verdict(outcome, holds="6 <= order <= 8", corrected="5", why="?") == "erratum"
    with pytest.raises(InputError, match="true or false"):
        verdict(outcome, holds="loss[1]")
    with pytest.raises(InputError, match="true or false"):
        verdict(outcome, holds="loss < 1")
    with pytest.raises(InputError, match="must be a number, not an array over order"):
        verdict(outcome, value="loss", printed="1")


@pytest.mark.parametrize(
    ("as_printed", "corrected", "expected"),
    [(0.5, 0.0, "erratum"), (0.5, 0.5, "differs"), (0.0, 0.0, "reproduced")],
)
def test_an_erratum_of_a_statement_shows_the_corrected_statement_too(
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


def test_a_draw_is_compared_with_tails_that_include_its_rounding_interval() -> None:
    draws = np.arange(1000) + 0.5
    assert drawn(draws, "25.0").verdict == "consistent"  # 25 of a thousand are below 25.05
    assert drawn(draws, "24.4").verdict == "differs"
    assert drawn(draws, "975.5").verdict == "consistent"
    assert drawn(draws, "975.7").verdict == "differs"
    assert drawn(draws, "24").verdict == "consistent"  # 24.5 rounds to it
    assert drawn([0.99, 1.0, 1.01], "1").weak is False
    assert drawn([0.1, 1.0, 10.0], "1").weak is True
    with pytest.raises(InputError, match="an array of repetitions is required"):
        verdict(Outcome(d=axis("draw", 2).of([1, 2])), draws="max(d)", printed="1")


def test_a_drawn_integer_is_compared_with_all_values_at_most_as_frequent() -> None:
    draws = np.repeat([1, 2, 3, 4, 7], [500, 440, 30, 29, 1])
    # of 3, 4 and 7 together there are 60 in a thousand; of 4 and 7 only 30
    passes = {"1": True, "2": True, "3": True, "4": False, "7": False, "5": False}
    for printed, consistent in passes.items():
        found = drawn(draws, printed)
        assert found.verdict == ("consistent" if consistent else "differs"), printed
    assert drawn(draws, "3").weak is False  # three of the seven values from 1 to 7 would pass
    assert drawn(np.repeat([1, 2, 3], 100), "2").weak is True
    assert drawn([3] * 100, "3").weak is False


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.integers(0, 6))
def test_the_rule_for_integers_is_its_definition(values: list[int], printed: int) -> None:
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


def test_claims_that_hold_by_construction_are_counted_separately() -> None:
    outcome = Outcome(loss=1.0)
    for holds, by, standing in [
        ("loss == 1", None, "reproduced"),
        ("loss == 1", "construction", "by construction"),
        ("loss == 2", "construction", "differs"),
    ]:
        assert judge(Claim("x", holds=holds, by=by), outcome, "book").category == standing


def test_an_unknown_quantity_is_reported_with_a_suggestion_and_the_known_ones() -> None:
    with pytest.raises(
        InputError, match=r"no quantity 'los' \(did you mean 'loss'\?\); allowed: loss"
    ):
        verdict(Outcome(loss=1.0), value="los", printed="1")


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"holds": "m", "says": ""}, "`says` is missing"),
        ({}, "exactly one"),
        ({"value": "m", "draws": "d", "printed": "1"}, "exactly one"),
        ({"holds": "m", "expect": "maybe"}, "not a verdict"),
        ({"holds": "m", "origin": "rumour"}, "unknown"),
        ({"holds": "m", "by": "magic"}, "by=magic is unknown"),
        ({"holds": "m", "printed": "1"}, "does not take `printed`"),
        ({"holds": "m <"}, "invalid syntax"),
        ({"value": "m"}, "requires the `printed` value"),
        ({"draws": "d"}, "requires the `printed` value"),
        ({"holds": "m", "expect": "differs"}, "requires `why`"),
        ({"holds": "m", "expect": "untested"}, "requires `why`"),
        ({"value": "m", "printed": "1", "expect": "erratum", "why": "x"}, "requires `corrected`"),
        ({"holds": "m", "instead": "n"}, "`instead` requires `holds`"),
        ({"holds": "m", "instead": "n <"}, "invalid syntax"),
    ],
)
def test_an_inconsistent_claim_is_refused(fields: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
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
    assert format_value(value, printed) == text


DRAWS = axis("data_set", 100)


@pytest.mark.parametrize(
    ("word", "true", "expected", "computed"),
    [
        ("nearly every draw", 95, "reproduced", "holds"),
        ("nearly every draw", 94, "differs", "does not hold"),
        ("most draws", 61, "reproduced", "holds"),
        ("most draws", 55, "differs", "not decided"),
        ("most draws", 20, "differs", "does not hold"),
        ("one experiment", 5, "reproduced", "holds"),
        ("one experiment", 4, "differs", "does not hold"),
    ],
)
def test_a_statement_about_draws_holds_in_enough_of_them(
    word: str, true: int, expected: str, computed: str
) -> None:
    outcome = Outcome(gain=DRAWS.of(np.where(np.arange(100) < true, 1.0, -1.0)))
    found = judge(Claim("x", holds="gain > 0", quantifier=word), outcome, "book")
    assert (found.verdict, found.computed) == (expected, computed)
    assert found.evidence == f"{true} of 100 data sets"
    assert found.quantifier == word
    assert ("not decided" in found.judged) is (computed == "not decided")


def test_an_undecided_statement_is_no_erratum() -> None:
    outcome = Outcome(gain=DRAWS.of(np.where(np.arange(100) < 50, 1.0, -1.0)))
    fields = {"corrected": "falls", "why": "?", "expect": "erratum"}
    claim = Claim("x", holds="gain > 0", quantifier="most draws", **fields)  # type: ignore[arg-type]
    assert judge(claim, outcome, "book").verdict == "differs"
    claim = Claim("x", holds="gain > 0", quantifier="nearly every draw", **fields)  # type: ignore[arg-type]
    assert judge(claim, outcome, "book").verdict == "erratum"
    claim.instead = "gain < 0"  # judged in the same sense
    assert judge(claim, outcome, "book").verdict == "differs"
    claim.instead = "share(gain < 0) == 0.5"
    assert judge(claim, outcome, "book").verdict == "erratum"


def test_a_quantifier_requires_draws() -> None:
    outcome = Outcome(gain=DRAWS.of(np.ones(100)), level=1.0)
    for holds in ("all(gain > 0)", "gain", "level > 0"):
        with pytest.raises(InputError, match="`in` requires a comparison for each draw"):
            judge(Claim("x", holds=holds, quantifier="most draws"), outcome, "book")
    one_draw = Outcome(gain=axis("draw", 1).of([1.0]))
    claim = Claim("x", holds="gain > 0", quantifier="one experiment")
    assert judge(claim, one_draw, "book").verdict == "reproduced"


def test_an_array_with_one_element_is_a_number_or_a_statement() -> None:
    outcome = Outcome(loss=over([[4.0, 2.0]], axis("method", ["exact"]), axis("order", [1, 2])))
    assert verdict(outcome, value="loss[2]", printed="2.0") == "reproduced"
    assert verdict(outcome, value="argmin(loss)", printed="2") == "reproduced"
    assert verdict(outcome, holds="loss[2] < loss[1]") == "reproduced"
    assert verdict(outcome, holds="falls(loss)") == "reproduced"


def test_a_claim_is_judged_with_its_named_parts() -> None:
    outcome = Outcome(loss=axis("order", [1, 2]).of([4.0, 2.0]))
    let = {"gap(i, j)": "loss[i] - loss[j]"}
    claim = Claim("x", value="gap(1, 2)", printed="2.0", let=let)
    found = judge(claim, outcome, "book")
    assert (found.verdict, found.let, found.expression) == ("reproduced", let, "gap(1, 2)")
    assert claim.quantities == {"loss"}
    assert found.to_json()["let"] == let
    with pytest.raises(InputError, match="has the wrong arguments; allowed: gap"):
        Claim("x", holds="gap(1) < 2", let=let)


TABLE = Outcome(
    loss=axis("order", [1, 2, 3]).of([0.062432, 0.0512, 0.04995]),
    error=over([[0.25, 0.5]], axis("n", [7]), axis("set", ["train", "test"])),
    seconds=axis("t", [0.5, 1.0]).of([1.0, 2.0]),
)


@pytest.mark.parametrize(
    ("values", "expected", "evidence"),
    [
        ({"loss": {"1": "0.0624", "3": "0.050"}}, "reproduced", "2 of 2 numbers"),
        (
            {"loss": {"1": "0.0624", "2": "0.06", "3": "0.04995"}},
            "differs",
            "2 of 3 numbers; loss at order 2: 0.0512, printed 0.06",
        ),
        (
            {"loss": {"2": "0.05"}, "error": {"train": "0.25", "test": "0.4"}},
            "differs",
            "2 of 3 numbers; error at set test: 0.500, printed 0.4",
        ),
        ({"2 * loss": {"1": "0.124864"}}, "reproduced", "1 of 1 numbers"),
        ({"seconds": {"0.5": "1", "1": "2"}}, "reproduced", "2 of 2 numbers"),
    ],
)
def test_a_table_of_printed_numbers(
    values: dict[str, dict[str, str]], expected: str, evidence: str
) -> None:
    claim = Claim("x", values=values)
    found = judge(claim, TABLE, "book")
    assert (found.verdict, found.evidence, found.kind) == (expected, evidence, "table")
    printed = [number for row in values.values() for number in row.values()]
    assert found.printed == claim.printed_text == "; ".join(printed)
    assert found.expression == ", ".join(values)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"loss": {"9": "1"}}, "loss: axis order has no coordinate 9; allowed: 1, 2, 3"),
        ({"loss": {"a": "1"}}, "loss: axis order has no coordinate 'a'"),
        ({"max(loss)": {"1": "1"}}, "`values` requires numbers along one axis"),
        ({"los": {"1": "1"}}, "no quantity 'los'"),
    ],
)
def test_an_invalid_table_is_reported(values: dict[str, dict[str, str]], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        judge(Claim("x", values=values), TABLE, "book")


def test_an_erratum_by_reading_is_counted_apart() -> None:
    claim = Claim("x", by="reading", corrected="w-hat", why="the hat is missing")
    found = judge(claim, Outcome(), "book")
    assert (found.verdict, found.category, found.kind) == ("erratum", "by reading", "reading")
    assert found.as_expected
    assert "nothing is compared" in found.judged


def test_a_claim_names_the_reading_under_which_it_is_judged() -> None:
    claim = Claim("x", holds="loss < 2", reading="the loss is a mean over the points")
    assert judge(claim, Outcome(loss=1.0), "book").reading == "the loss is a mean over the points"


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"holds": "m", "quantifier": "often"}, "in=often is unknown; allowed: nearly every draw"),
        ({"value": "m", "printed": "1", "quantifier": "most draws"}, "`in` requires `holds`"),
        ({"values": {"m": {"1": "1"}}, "printed": "1"}, "`values` has the printed numbers"),
        ({"values": {"m": {"1": "one"}}}, "'one' is not a valid printed number"),
        ({"values": {"m <": {"1": "1"}}}, "invalid syntax"),
        ({"values": {"m": {"1": "1"}}, "holds": "m"}, "exactly one"),
        ({"by": "reading", "why": "x"}, "requires `corrected`"),
        ({"by": "reading", "corrected": "y", "why": "x", "holds": "m"}, "no expression"),
        ({"by": "reading", "corrected": "y"}, "`cause` or `why`"),
    ],
)
def test_inconsistent_tables_quantifiers_and_readings_are_refused(
    fields: dict[str, object], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        Claim(**{"says": "something", **fields})  # type: ignore[arg-type]
