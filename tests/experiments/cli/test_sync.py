"""`bythebook sync`: recorded runs are logged once."""

from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main

Capture = pytest.CaptureFixture[str]


def test_sync_logs_each_run_once(outputs: Path, tracked: object, capsys: Capture) -> None:
    main(["run", "experiment=fcml/fig-1.15", "tracking=off"])
    main(["run", "-m", "study=polynomial_order", "study.partitions=3,5", "tracking=off"])
    capsys.readouterr()
    assert main(["sync"]) == 0
    assert capsys.readouterr().out == "4 runs logged, 0 already present\n"  # one of an equation
    assert main(["sync"]) == 0
    assert capsys.readouterr().out == "0 runs logged, 5 already present\n"
