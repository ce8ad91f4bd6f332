"""The results that a command is about: verdicts as the last runs have them."""

import argparse
from pathlib import Path

from experiments.commands import selecting
from experiments.records.record import Record


def test_verdicts_are_those_of_the_last_runs(outputs: Path, recorded: Record) -> None:
    options = argparse.Namespace(selection=["verdict:reproduced"], search=None)
    assert selecting.results(options, outputs) == ["fcml/fig-1.15"]
    options.selection = ["verdict:untested"]
    assert selecting.results(options, outputs) == []
    assert selecting.results(options, outputs, ["fcml/fig-1.15"]) == ["fcml/fig-1.15"]
