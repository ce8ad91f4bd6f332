"""Fixtures: an empty outputs folder, and a copy of a tracking store that exists already."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from bythebook.experiments.cli.main import main
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.execution.runner import run_jobs
from bythebook.experiments.store.locking import exclusive_lock
from bythebook.experiments.store.record import Record
from bythebook.experiments.tracking.local import LocalTracker

settings.register_profile("calm", deadline=None)  # a busy machine is no failure
settings.load_profile("calm")
FAULTS = Path(__file__).parent / "faults"
# Processes that a test starts find the study that misbehaves; the fork server starts once.
os.environ["PYTHONPATH"] = str(FAULTS)


@pytest.fixture
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh outputs folder that every command of the test uses."""
    folder = tmp_path / "outputs"
    folder.mkdir()
    monkeypatch.setenv("BYTHEBOOK_OUTPUTS", str(folder))
    monkeypatch.delenv("BYTHEBOOK_DATA", raising=False)
    return folder


@pytest.fixture
def recorded(outputs: Path) -> Record:
    """FCML's Figure 1.15, recorded in the outputs folder: neither tracked nor drawn."""
    (done,) = run_jobs([load_job("fcml/fig-1.15")], outputs)
    return done.record


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """A function that runs an invalid command and returns its one line of explanation."""

    def line(*words: str) -> str:
        capsys.readouterr()
        assert main([*words]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("bythebook: ")
        assert printed.err.count("\n") == 1, printed.err
        return printed.err.removeprefix("bythebook: ").rstrip("\n")

    return line


@pytest.fixture
def print_style() -> Iterator[None]:
    """Figures in print style, regardless of the matplotlib settings of this machine."""
    from bythebook.experiments.plotting import canvas

    with canvas.style("print"):
        yield


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An MLflow database with no runs in it, made once for all test processes."""
    shared = tmp_path_factory.getbasetemp().parent / "empty-store"
    with exclusive_lock(shared / "lock"):
        LocalTracker(shared).create_database()
    return shared / "mlflow.db"


@pytest.fixture
def tracked(outputs: Path, empty_store: Path) -> LocalTracker:
    """The outputs folder with a tracking store in it."""
    shutil.copyfile(empty_store, outputs / "mlflow.db")
    return LocalTracker(outputs)


@pytest.fixture
def misbehaving(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study `misbehaving`, in this process and in every one it starts."""
    import bythebook.experiments.figures
    import bythebook.experiments.studies

    for package, folder in (
        (bythebook.experiments.studies, "studies"),
        (bythebook.experiments.figures, "figures"),
    ):
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(FAULTS / folder)])
