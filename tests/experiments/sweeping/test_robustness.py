"""Other seeds: what is remembered, and for how long."""

from pathlib import Path

import pytest

from experiments.cli import main
from experiments.records.store import RunStore
from experiments.sweeping import robustness

Capture = pytest.CaptureFixture[str]
CHANCE = "fcml/fig-1.16"


def test_the_counts_are_shown_while_the_code_is_the_same(
    outputs: Path, tracked: object, capsys: Capture
) -> None:
    main(["robustness", CHANCE, "--seeds", "2", "--jobs", "1"])
    capsys.readouterr()
    assert main(["show", CHANCE]) == 0
    assert "2 of 2 seeds" in capsys.readouterr().out
    record = RunStore(outputs).latest(CHANCE)
    assert record is not None
    assert robustness.remembered(outputs, record)
    file = outputs / robustness.FILE
    file.write_text(file.read_text().replace(record["provenance"]["code"], "another"))
    assert robustness.remembered(outputs, record) == {}
    file.write_text("{")
    assert robustness.remembered(outputs, record) == {}
