"""`bythebook sync`: what is recorded and not logged is logged, once."""

from pathlib import Path

import pytest

from experiments.cli import main

Capture = pytest.CaptureFixture[str]


def test_sync_logs_what_was_not_logged_once(
    outputs: Path, tracked: object, capsys: Capture
) -> None:
    main(["run", "experiment=fcml/fig-1.15", "tracking=off"])
    main(["run", "-m", "study=polynomial_order", "study.folds=3,5", "tracking=off"])
    capsys.readouterr()
    assert main(["sync"]) == 0
    assert capsys.readouterr().out == "3 runs logged, 0 were there already\n"
    assert main(["sync"]) == 0
    assert capsys.readouterr().out == "0 runs logged, 4 were there already\n"
