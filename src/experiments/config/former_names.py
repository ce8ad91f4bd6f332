"""Former names of settings, flags and environment variables.

A command that uses a former name is refused with a line that gives the present name.
"""

import os

from bythebook.experiments.core.errors import InputError

SETTINGS = {
    "fresh": "force",
    "most_cells": "max_cells",
    "launch": "launcher",
    "limit": "limits",
    "limit.seconds": "limits.timeout",
    "limits.seconds": "limits.timeout",
    "track": "tracking",
    "tracking.kind": "tracking",
    "tracking.uri": "tracking_uri",
    "data": "data_dir",
    "data.dir": "data_dir",
}
FLAGS = {"--fresh": "--force", "--data": "--data-dir", "--seconds": "--timeout"}
_DATA_DIR, _FORMER_DATA_DIR = "BYTHEBOOK_DATA", "BOOK_DATA"


def present_name(key: str) -> str | None:
    """The present name of a setting that was renamed; None for any other key."""
    if key in SETTINGS:
        return SETTINGS[key]
    top, dot, rest = key.partition(".")
    return f"{SETTINGS[top]}.{rest}" if dot and top in ("launch", "limit") else None


def data_dir_from_environment() -> str | None:
    """The folder of the original files in BYTHEBOOK_DATA."""
    folder = os.environ.get(_DATA_DIR) or None
    if folder is None and os.environ.get(_FORMER_DATA_DIR):
        raise InputError(f"the variable {_FORMER_DATA_DIR} is called {_DATA_DIR} now")
    return folder
