"""Printed numbers: text as in the book, whose digits are the tolerance.

"1.358" is matched by every value that rounds to 1.358.
"""

import math
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np


def parse_printed_number(text: str) -> Decimal | None:
    """A number as a book prints it: `36.416`, `-0.0133`, `1.5204e-6`, `12,345`."""
    try:
        value = Decimal(text.replace(",", "").replace("−", "-").strip())
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def matches_printed(value: Any, printed: str, within: float | None = None) -> bool:
    """Whether a value rounds to the printed digits; ties may round either way."""
    target = parse_printed_number(printed)
    if target is None or isinstance(value, bool | str) or not math.isfinite(value):
        return False
    if isinstance(value, int) and within is None:
        exponent = int(target.as_tuple().exponent)
        if exponent <= 0:
            return Decimal(value) == target
    half = Decimal(str(within)) if within is not None else last_digit_unit(target) / 2
    decimal = Decimal(repr(value))  # the shortest decimal, so that ties are exact
    return abs(decimal - target) <= half


def last_digit_unit(printed: Decimal) -> Decimal:
    """One unit in the last printed digit: 0.001 for 36.416, 1e-10 for 1.5204e-6."""
    return Decimal(1).scaleb(int(printed.as_tuple().exponent))


def format_value(value: Any, printed: str | None = None, extra: int = 2) -> str:
    """A value as text with `extra` digits more than the printed one, else with six digits."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | str):
        return str(value)
    target = parse_printed_number(printed) if printed is not None else None
    if target is None or not np.isfinite(value):
        return f"{value:.6g}"
    digits = -int(target.as_tuple().exponent) + extra
    if target != 0 and (target.adjusted() < -3 or target.adjusted() > 6):
        return f"{value:.{max(digits + target.adjusted(), 0)}e}"
    return f"{value:.{max(digits, 0)}f}"
