"""Fixtures: an outputs folder of one's own, and a tracking store that is not migrated each time."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from experiments.cli import main
from experiments.configuration.build import experiment_job
from experiments.records.locks import exclusive
from experiments.records.record import Record
from experiments.running.runner import perform_all
from experiments.tracking.local import LocalTracker

settings.register_profile("calm", deadline=None)  # however busy the machine is
settings.load_profile("calm")
FAULTS = Path(__file__).parent / "faults"
# Processes that a test starts know the study that misbehaves; the pool's server starts only once.
os.environ["PYTHONPATH"] = str(FAULTS)


@pytest.fixture
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh outputs folder that every command of the test uses."""
    folder = tmp_path / "outputs"
    folder.mkdir()
    monkeypatch.setenv("BYTHEBOOK_OUTPUTS", str(folder))
    monkeypatch.delenv("BOOK_DATA", raising=False)
    return folder


@pytest.fixture
def recorded(outputs: Path) -> Record:
    """FCML's Figure 1.15, recorded in the outputs folder: neither tracked nor drawn."""
    (done,) = perform_all([experiment_job("fcml/fig-1.15")], outputs)
    return done.record


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Type a command that is refused; the one line that says why."""

    def line(*words: str) -> str:
        capsys.readouterr()
        assert main([*words]) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith("bythebook: ")
        assert told.err.count("\n") == 1, told.err
        return told.err.removeprefix("bythebook: ").rstrip("\n")

    return line


@pytest.fixture
def print_style() -> Iterator[None]:
    """Figures as they are printed, whatever this machine's matplotlib is set to."""
    from experiments.drawing import canvas

    with canvas.style("print"):
        yield


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An MLflow database with no runs in it, made once for all test processes."""
    shared = tmp_path_factory.getbasetemp().parent / "empty-store"
    with exclusive(shared / "lock"):
        LocalTracker(shared).create()
    return shared / "mlflow.db"


@pytest.fixture
def tracked(outputs: Path, empty_store: Path) -> LocalTracker:
    """The outputs folder with a tracking store in it."""
    shutil.copyfile(empty_store, outputs / "mlflow.db")
    return LocalTracker(outputs)


@pytest.fixture
def misbehaving(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study `misbehaving`, in this process and in every one it starts."""
    import experiments.figures
    import experiments.studies

    for package, folder in ((experiments.studies, "studies"), (experiments.figures, "figures")):
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(FAULTS / folder)])
