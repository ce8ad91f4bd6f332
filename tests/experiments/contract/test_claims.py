"""Verdicts on claims: the printed digits are the tolerance."""

import numpy as np
import pytest

from experiments.contract.claims import Claim, judge, number, rounds_to, shown
from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome


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
        Claim(says="close to eleven", metric="m", printed="11", within=0.1)


@pytest.mark.parametrize("text", ["", "about 3", "nan", "inf", "3 s"])
def test_only_numbers_are_printed_numbers(text: str) -> None:
    assert number(text) is None
    with pytest.raises(BadInput, match="not a number"):
        Claim(says="x", metric="m", printed=text)


def test_printed_number() -> None:
    outcome = Outcome({"loss": 0.458497})
    assert verdict(outcome, metric="loss", printed="0.458") == "reproduced"
    assert verdict(outcome, metric="loss", printed="0.459") == "differs"
    fields = {"printed": "0.459", "corrected": "0.458", "why": "twice", "expect": "erratum"}
    assert verdict(outcome, metric="loss", **fields) == "erratum"
    wrong = {**fields, "corrected": "0.457"}
    assert verdict(outcome, metric="loss", **wrong) == "differs"


def test_an_erratum_that_the_run_refutes_is_reproduced_and_so_unexpected() -> None:
    claim = Claim("x", "loss", printed="0.46", corrected="0.5", why="?", expect="erratum")
    found = judge(claim, Outcome({"loss": 0.4585}), "book")
    assert (found.verdict, found.as_expected) == ("reproduced", False)


def test_range() -> None:
    outcome = Outcome({"order": 5})
    assert verdict(outcome, metric="order", between=[3, 8]) == "reproduced"
    assert verdict(outcome, metric="order", between=[6, 8]) == "differs"


def test_statement() -> None:
    outcome = Outcome({"falls": True, "rises": np.bool_(False), "loss": 1.0})
    assert verdict(outcome, metric="falls") == "reproduced"
    assert verdict(outcome, metric="rises") == "differs"
    with pytest.raises(BadInput, match="true or false"):
        verdict(outcome, metric="loss")


def test_random_draw_lies_in_the_central_95_percent() -> None:
    draws = np.arange(1000.0)
    inside = judge(Claim("x", draws="d", printed="30"), Outcome(arrays={"d": draws}), "book")
    assert inside.verdict == "consistent"
    assert "percentile 3.0 " in inside.judged  # thirty of a thousand lie below, and one ties
    outside = judge(Claim("x", draws="d", printed="20"), Outcome(arrays={"d": draws}), "book")
    assert outside.verdict == "differs"


def test_a_claim_about_nothing_names_what_there_is() -> None:
    with pytest.raises(BadInput, match=r"no metric 'los'; it gives: loss"):
        verdict(Outcome({"loss": 1.0}), metric="los", printed="1")


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"metric": "m", "says": ""}, "says nothing"),
        ({}, "exactly one"),
        ({"metric": "m", "draws": "d", "printed": "1"}, "exactly one"),
        ({"metric": "m", "expect": "maybe"}, "not a verdict"),
        ({"metric": "m", "origin": "rumour"}, "unknown"),
        ({"metric": "m", "printed": "1", "between": [0, 1]}, "one kind"),
        ({"metric": "m", "between": [2, 1]}, "low <= high"),
        ({"draws": "d"}, "needs the `printed` value"),
        ({"metric": "m", "expect": "differs"}, "needs `why`"),
        ({"metric": "m", "printed": "1", "expect": "erratum", "why": "x"}, "needs `corrected`"),
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
