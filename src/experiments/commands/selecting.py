"""The results that a command is about."""

import argparse
from pathlib import Path

from experiments.configuration import selection
from experiments.records.last_verdicts import last_verdicts


def results(
    options: argparse.Namespace, outputs: Path, words: list[str] | None = None
) -> list[str]:
    """The selected results; `words` are the selection where some of its words mean other things."""
    stated = options.selection if words is None else words
    return selection.select(stated, options.search, lambda names: last_verdicts(outputs, names))
