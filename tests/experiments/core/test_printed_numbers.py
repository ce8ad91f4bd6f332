"""Printed numbers: the printed digits are the tolerance."""

import pytest

from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.printed_numbers import (
    format_value,
    matches_printed,
    parse_printed_number,
)


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


@pytest.mark.parametrize("text", ["", "about 3", "nan", "inf", "3 s"])
def test_only_numbers_are_printed_numbers(text: str) -> None:
    assert parse_printed_number(text) is None
    with pytest.raises(InputError, match="not a valid printed number"):
        Claim(says="x", value="m", printed=text)


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
