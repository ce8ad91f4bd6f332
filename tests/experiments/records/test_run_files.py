"""What lies beside a record: figures, a small copy of the first, tables; whole or not at all."""

from pathlib import Path

import pytest
from PIL import Image

from experiments.cli import main
from experiments.drawing import canvas
from experiments.records import run_files
from experiments.records.record import Record
from experiments.records.store import RunStore


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    outputs = tmp_path_factory.mktemp("outputs")
    arguments = ["run", "experiment=fcml/fig-1.15", "study.methods=[loo]", "tracking=off"]
    assert main([*arguments, f"outputs={outputs}"]) == 0
    (folder,) = RunStore(outputs).folders()
    return RunStore(outputs).find(folder.name)


def test_figures_a_small_copy_and_tables(record: Record) -> None:
    run_files.ensure(record)
    assert {path.name for path in (record.folder / "figures").iterdir()} == {"loo.png", "loo.webp"}
    assert (record.folder / "tables" / "order.csv").exists()
    with Image.open(record.folder / "figures" / "loo.webp") as image:
        assert max(image.size) == canvas.SMALL


def test_what_is_there_is_not_made_again(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    run_files.ensure(record)
    monkeypatch.setattr(run_files, "draw", lambda *_, **__: pytest.fail("drawn again"))
    run_files.ensure(record)


def test_a_drawing_that_fails_leaves_nothing(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Record, folder: Path, **options: bool) -> None:
        (folder / "half.png").touch()
        raise OSError("no space left on device")

    monkeypatch.setattr(run_files, "draw", fail)
    copy = Record(tmp_path, record.content)
    with pytest.raises(OSError, match="no space"):
        run_files.ensure(copy)
    assert list(tmp_path.iterdir()) == []
