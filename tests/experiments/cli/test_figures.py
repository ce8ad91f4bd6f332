"""`bythebook figures`: figures are drawn from records, with the same bytes each time."""

from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.core.study import studies
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_store import RunStore

Capture = pytest.CaptureFixture[str]


def test_figures_are_drawn_from_the_record(
    outputs: Path, recorded: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies()[recorded.study], "run", lambda *_: pytest.fail("it computed"))
    for style in ("screen", "print"):
        formats = ["--format", "png,pdf,svg", "--style", style]
        assert main(["figures", "fcml/fig-1.15", *formats]) == 0
        folder = outputs / "figures" / style / "fcml" / "fig-1.15"
        first = {path.name: path.read_bytes() for path in folder.iterdir()}
        assert {Path(name).suffix for name in first} == {".png", ".pdf", ".svg"}
        assert main(["figures", "fcml/fig-1.15", *formats]) == 0
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == first


def test_figures_of_a_run_and_of_the_runs_of_a_sweep(outputs: Path, capsys: Capture) -> None:
    sweep = ["run", "-m", "study=polynomial_order", "study.folds=[10]", "seed=0,1"]
    assert main([*sweep, "tracking=off"]) == 0
    (folder,) = (outputs / "sweeps").iterdir()
    first, second = (path.name for path in RunStore(outputs).folders())
    assert main(["figures", f"run:{first[:10]}", f"sweep:{folder.name}", "--cells"]) == 0
    root = outputs / "figures" / "screen"
    cells = Path("sweeps", folder.name)
    drawn = (Path("runs", first), cells / first, cells / second)
    names = ("losses.png", "fits.png", "weights.png", "folds.png")
    assert {path.relative_to(root) for path in root.rglob("*.png")} == {
        cells / "sweep.png",
        *(folder / name for folder in drawn for name in names),
    }
    capsys.readouterr()
    assert main(["figures", "sweep:sweep-of-dust"]) == 2
    assert f"allowed: {folder.name}" in capsys.readouterr().err
    assert main(["figures", "run:../x"]) == 2


def test_a_run_that_cannot_be_drawn_is_reported_in_one_line(outputs: Path, capsys: Capture) -> None:
    names = ["fcml/fig-1.15", "fcml/fig-1.5"]
    assert main(["reproduce", *names, "--jobs", "1", "--tracking", "off"]) == 0
    record = RunStore(outputs).latest_run(names[1])
    assert record is not None
    (record.folder / "arrays.npz").unlink()
    capsys.readouterr()
    assert main(["figures", *names]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(f"bythebook: could not draw {record.id}: the ")
    assert (outputs / "figures" / "screen" / names[0] / "losses.png").exists()
