"""`bythebook verify`: a recorded run is computed again and compared bit for bit."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.store.run_store import RunStore

Capture = pytest.CaptureFixture[str]


def test_verify_compares_bit_for_bit(
    outputs: Path, tracked: object, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bythebook.models.regression import polynomials
    from bythebook.models.regression.polynomials import loo_loss

    main(["run", "experiment=fcml/fig-1.15", "figures=false"])
    (folder,) = RunStore(outputs).folders()
    capsys.readouterr()
    assert main(["verify", folder.name]) == 0
    assert "bitwise identical" in capsys.readouterr().out
    path = folder / "run.json"
    text = path.read_text()
    path.write_text(text.replace('"loo_loss"', '"lost"'))
    assert main(["verify", folder.name]) == 2
    assert "checksum" in capsys.readouterr().err
    path.write_text(text)
    monkeypatch.setattr(polynomials, "loo_loss", lambda fits: np.nextafter(loo_loss(fits), 1))
    assert main(["verify", folder.name]) == 1
    assert "1 quantities differ: loo_loss" in capsys.readouterr().out


def test_verify_accepts_the_id_of_an_mlflow_run(
    outputs: Path, tracked: object, capsys: Capture
) -> None:
    main(["run", "experiment=fcml/fig-1.15", "figures=false"])
    with sqlite3.connect(outputs / "mlflow.db") as database:
        ((run_id,),) = database.execute("SELECT run_uuid FROM runs").fetchall()
    assert main(["verify", run_id]) == 0
    assert main(["verify", "0" * 32]) == 2
