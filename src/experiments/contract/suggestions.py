"""Slips of the pen: the name that was meant."""

import difflib
from collections.abc import Iterable


def meant(typed: str, names: Iterable[str]) -> str:
    """A question after the nearest of some names; nothing where none is near."""
    close = difflib.get_close_matches(typed, list(names), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""
