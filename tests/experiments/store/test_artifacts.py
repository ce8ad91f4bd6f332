"""Figures, thumbnails and tables in a run's folder, written atomically."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from bythebook.experiments.cli.main import main
from bythebook.experiments.plotting import canvas
from bythebook.experiments.store import artifacts
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_store import RunStore


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    outputs = tmp_path_factory.mktemp("outputs")
    arguments = ["run", "experiment=fcml/fig-1.15", "tracking=off"]
    assert main([*arguments, f"outputs={outputs}"]) == 0
    (folder,) = RunStore(outputs).folders()
    return RunStore(outputs).find(folder.name)


def test_figures_thumbnail_and_tables_are_written(record: Record) -> None:
    artifacts.ensure_artifacts(record)
    written = {path.name for path in (record.folder / "figures").iterdir()}
    assert written == {"losses.png", "losses.webp", "named.json"}
    assert (record.folder / "tables" / "order.csv").exists()
    with Image.open(record.folder / "figures" / "losses.webp") as image:
        assert max(image.size) == canvas.THUMBNAIL_PX


def test_existing_files_are_not_written_again(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifacts.ensure_artifacts(record)
    monkeypatch.setattr(artifacts, "draw", lambda *_, **__: pytest.fail("drawn again"))
    artifacts.ensure_artifacts(record)


def test_figures_are_drawn_again_when_the_file_names_others(record: Record, tmp_path: Path) -> None:
    shutil.copy(record.folder / "arrays.npz", tmp_path)

    def drawn(named: dict[str, list[str]]) -> set[str]:
        other = Record(tmp_path, record.content)
        other.published = replace(record.published, figures=named)  # type: ignore[misc]
        artifacts.ensure_figures(other)
        return {path.name for path in (tmp_path / "figures").glob("*.png")}

    assert drawn({"losses": ["loo_loss"]}) == {"losses.png"}
    (tmp_path / "figures" / "losses.png").write_text("kept")
    assert drawn({"losses": ["loo_loss"]}) == {"losses.png"}
    assert (tmp_path / "figures" / "losses.png").read_bytes() == b"kept"
    drawn({"losses": []})
    assert (tmp_path / "figures" / "losses.png").read_bytes() != b"kept"
    assert drawn({}) == {"losses.png", "fits.png", "weights.png"}


def test_a_failed_drawing_leaves_no_files(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Record, folder: Path, **options: bool) -> None:
        (folder / "half.png").touch()
        raise OSError("no space left on device")

    monkeypatch.setattr(artifacts, "draw", fail)
    copy = Record(tmp_path, record.content)
    with pytest.raises(OSError, match="no space"):
        artifacts.ensure_artifacts(copy)
    assert list(tmp_path.iterdir()) == []
