"""`bythebook run`: one configuration, Hydra's flags, invalid input."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.store.run_store import RunStore

Capture = pytest.CaptureFixture[str]


def test_an_unavailable_server_is_reported_and_the_run_recorded(
    outputs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bythebook.experiments.tracking.client.RETRY_DELAYS_S", (0.1,))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "the command sets it")
    address = "http://user:secret@127.0.0.1:9"
    assert (
        main(["run", "experiment=fcml/fig-1.15", "tracking=server", f"tracking_uri={address}"]) == 0
    )
    output = capsys.readouterr().err
    assert "MLflow is unavailable" in output
    assert "bythebook sync" in output
    assert "secret" not in output
    (folder,) = RunStore(outputs).folders()
    assert "secret" not in (folder / "run.json").read_text()


@pytest.fixture
def own_logging() -> Iterator[None]:
    """Remove the log handler of Hydra's --info, whose stream is closed after the test."""
    root = logging.getLogger()
    level = root.level
    yield
    root.setLevel(level)
    for handler in [*root.handlers]:
        if type(handler) is logging.StreamHandler:
            root.removeHandler(handler)


@pytest.mark.usefixtures("own_logging")
def test_hydras_flags(outputs: Path, capsys: Capture) -> None:
    assert main(["run", "fcml/fig-1.15", "--cfg", "job", "--package", "study"]) == 0
    assert "holdout_from: 1980" in capsys.readouterr().out
    assert main(["run", "fcml/fig-1.15", "seed=3", "--cfg", "job"]) == 0
    assert "seed: 3" in capsys.readouterr().out
    assert main(["run", "fcml/fig-1.15", "--info", "defaults"]) == 0
    assert main(["run", "fcml/fig-1.15", "--cfg", "job", "--package", "nope"]) == 2
    assert not list(outputs.iterdir())


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["study=polynomial_order", "study.ordrs=[1]"],
            "there is no 'study.ordrs' (did you mean 'orders'?)",
        ),
        (["study=polynomial_order", "+study.typo=1"], "there is no 'study.typo'"),
        (
            ["study=polynomial_order", "study.orders=[a]"],
            'study.orders=["a"]: a is not allowed; allowed: list[int]',
        ),
        (
            ["study=polynomial_order", "study.orders=[-1]"],
            "study.orders=[-1]: -1 is not allowed; allowed: list[int], >= 0",
        ),
        (["study=polynomial_order", "study.orders=[]"], "study.orders=[] is empty"),
        (
            ["study=polynomial_order", "study.partitions=many"],
            "study.partitions=many is not allowed; allowed: int",
        ),
        (["study=polynomial_order", "study.data=nope"], "study.data=nope"),
        (
            ["study=polynomial_order", "study.data=${oc.env:HOME}"],
            "interpolation (${...}) is not allowed",
        ),
        (["study=polynomial_order", "study._target_=os.system"], "there is no 'study._target_'"),
        (
            ["study=polynomial_odor"],
            "there is no study 'polynomial_odor' (did you mean 'polynomial_order'?)",
        ),
        (["study=[1,2]"], "study=[1,2]"),
        (["experiment=fcml/fig-1.51"], "there is no result 'fcml/fig-1.51' (did you mean"),
        (["experiment=../../etc/passwd"], "'../../etc/passwd'"),
        (["seeed=1"], "there is no 'seeed' (did you mean 'seed'?)"),
        (["study=polynomial_order", "seed=-1"], "seed=-1 is not allowed"),
        (["study=polynomial_order", "jobs=0"], "jobs=0 is not allowed"),
        (["study=polynomial_order", "study.orders=[1"], "study.orders=[1"),
        (
            ["study=polynomial_order", "tracking=cloud"],
            "tracking=cloud is not allowed; allowed: str, one of local, server, off",
        ),
        (
            ["study=polynomial_order", "outputs=/proc/nowhere"],
            "cannot write to the outputs folder /proc/nowhere",
        ),
        (
            ["study=polynomial_order", "data_dir=/nonexistent"],
            "data_dir=/nonexistent is not a folder",
        ),
        ([], "nothing to run"),
    ],
)
def test_invalid_input_is_rejected_in_one_line(
    arguments: list[str], line: str, outputs: Path, refused: Callable[..., str]
) -> None:
    assert line in refused("run", *arguments)
    assert not list(outputs.iterdir())


SWEEPS = {
    "seed=1,2 launcher=dask": "launcher=dask requires launcher.address",
    "seed=1,2 launcher=dask launcher.address=here": "launcher.address=here is not an address",
    "seed=1,2 tracking=server": "tracking=server needs tracking_uri",
    "seed=1,2 tracking=server tracking_uri=there": "tracking_uri=there is not an address; allowed:",
}


@pytest.mark.parametrize("typed", SWEEPS)
def test_a_sweep_without_an_address_is_rejected(
    typed: str, outputs: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MLFLOW_TRACKING_URI", "DASK_SCHEDULER_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    assert refused("run", "-m", "study=ridge_path", *typed.split()).startswith(SWEEPS[typed])
    assert not list(outputs.iterdir())


def test_several_values_without_a_sweep_are_rejected(
    outputs: Path, refused: Callable[..., str]
) -> None:
    line = refused("run", "study=ridge_path,polynomial_order")
    assert line.startswith("'study=ridge_path,polynomial_order' has several values")
    assert not list(outputs.iterdir())


def test_a_configuration_is_printed_without_the_password_in_an_address(
    outputs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://user:secret@there:5000")
    words = ["run", "study=polynomial_order", "tracking=server", "--cfg", "job", "--resolve"]
    assert main(words) == 0
    output = capsys.readouterr().out
    assert "http://***@there:5000" in output
    assert "secret" not in output
