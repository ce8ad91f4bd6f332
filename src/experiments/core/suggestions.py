"""Suggestion of the closest known name for a misspelt one."""

import difflib
from collections.abc import Iterable


def did_you_mean(typed: str, names: Iterable[str]) -> str:
    """The closest of some names as a question in brackets; empty if none is close."""
    close = difflib.get_close_matches(typed, list(names), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""
