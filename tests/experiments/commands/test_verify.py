"""`bythebook verify`: a recorded run computed again, compared to the last bit."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from experiments.cli import main
from experiments.records.store import RunStore

Capture = pytest.CaptureFixture[str]


def test_verify_compares_every_bit(
    outputs: Path, tracked: object, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from models.regression import polynomials
    from models.regression.polynomials import loo_loss

    main(["run", "experiment=fcml/fig-1.15", "figures=false"])
    (folder,) = RunStore(outputs).folders()
    capsys.readouterr()
    assert main(["verify", folder.name]) == 0
    assert "identical to the last bit" in capsys.readouterr().out
    path = folder / "run.json"
    text = path.read_text()
    path.write_text(text.replace('"loo_loss"', '"lost"'))
    assert main(["verify", folder.name]) == 2
    assert "is not what was written" in capsys.readouterr().err
    path.write_text(text)
    monkeypatch.setattr(polynomials, "loo_loss", lambda fits: np.nextafter(loo_loss(fits), 1))
    assert main(["verify", folder.name]) == 1
    assert "1 quantities differ: loo_loss" in capsys.readouterr().out


def test_verify_takes_mlflows_id_too(outputs: Path, tracked: object, capsys: Capture) -> None:
    main(["run", "experiment=fcml/fig-1.15", "figures=false"])
    with sqlite3.connect(outputs / "mlflow.db") as database:
        ((run_id,),) = database.execute("SELECT run_uuid FROM runs").fetchall()
    assert main(["verify", run_id]) == 0
    assert main(["verify", "0" * 32]) == 2
