"""Claims with inconsistent fields are refused."""

import numpy as np
import pytest

from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.judging import judge
from bythebook.experiments.core.outcome import Outcome, axis
from bythebook.experiments.core.printed_numbers import matches_printed


def test_a_wider_tolerance_needs_its_reason() -> None:
    assert matches_printed(10.96, "11", within=0.1)
    with pytest.raises(InputError, match="because"):
        Claim(says="close to eleven", value="m", printed="11", within=0.1)


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


def test_a_quantifier_requires_draws() -> None:
    outcome = Outcome(gain=axis("data_set", 100).of(np.ones(100)), level=1.0)
    for holds in ("all(gain > 0)", "gain", "level > 0"):
        with pytest.raises(InputError, match="`in` requires a comparison for each draw"):
            judge(Claim("x", holds=holds, quantifier="most draws"), outcome, "book")
    one_draw = Outcome(gain=axis("draw", 1).of([1.0]))
    claim = Claim("x", holds="gain > 0", quantifier="one experiment")
    assert judge(claim, one_draw, "book").verdict == "reproduced"


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
