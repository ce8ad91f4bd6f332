"""`bythebook run`: one configuration, Hydra's flags, and refusals that leave nothing."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.records.store import RunStore

Capture = pytest.CaptureFixture[str]


def test_a_server_that_is_not_there_costs_a_line_and_no_run(
    outputs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.tracking.client.PAUSES", (0.1,))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "the command sets it")
    address = "http://user:secret@127.0.0.1:9"
    assert (
        main(["run", "experiment=fcml/fig-1.15", "tracking=server", f"tracking.uri={address}"]) == 0
    )
    told = capsys.readouterr().err
    assert "not tracked" in told
    assert "bythebook sync" in told
    assert "secret" not in told
    (folder,) = RunStore(outputs).folders()
    assert "secret" not in (folder / "run.json").read_text()


@pytest.fixture
def own_logging() -> Iterator[None]:
    """Hydra's --info logs to the output of the moment, which is closed after the test."""
    root = logging.getLogger()
    level = root.level
    yield
    root.setLevel(level)
    for handler in [*root.handlers]:
        if type(handler) is logging.StreamHandler:
            root.removeHandler(handler)


@pytest.mark.usefixtures("own_logging")
def test_hydras_flags_work(outputs: Path, capsys: Capture) -> None:
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
            ["study=polynomial_order", "study.folds=many"],
            "study.folds=many is not allowed; allowed: int",
        ),
        (["study=polynomial_order", "study.data=nope"], "study.data=nope"),
        (["study=polynomial_order", "study.data=${oc.env:HOME}"], "calls a resolver"),
        (["study=polynomial_order", "study._target_=os.system"], "there is no 'study._target_'"),
        (
            ["study=polynomial_odor"],
            "there is no study 'polynomial_odor' (did you mean 'polynomial_order'?)",
        ),
        (["study=[1,2]"], "study=[1,2]"),
        (["experiment=fcml/fig-1.51"], "there is no experiment 'fcml/fig-1.51' (did you mean"),
        (["experiment=../../etc/passwd"], "there is no experiment"),
        (["seeed=1"], "there is no 'seeed' (did you mean 'seed'?)"),
        (["study=polynomial_order", "seed=-1"], "seed=-1 is not allowed"),
        (["study=polynomial_order", "jobs=0"], "jobs=0 is not allowed"),
        (["study=polynomial_order", "study.orders=[1"], "study.orders=[1"),
        (
            ["study=polynomial_order", "tracking=cloud"],
            "there is no tracking 'cloud'; allowed: local, off, server",
        ),
        (
            ["study=polynomial_order", "outputs=/proc/nowhere"],
            "cannot write to the outputs folder /proc/nowhere",
        ),
        (
            ["study=polynomial_order", "data.dir=/nonexistent"],
            "data.dir=/nonexistent is not a folder",
        ),
        ([], "nothing to run"),
    ],
)
def test_bad_input_is_one_clear_line(
    arguments: list[str], line: str, outputs: Path, refused: Callable[..., str]
) -> None:
    assert line in refused("run", *arguments)
    assert not list(outputs.iterdir()), "something was left half-written"


SWEEPS = {
    "seed=1,2 launch=dask": "launch=dask needs launch.address",
    "seed=1,2 launch=dask launch.address=here": "launch.address=here is not an address",
    "seed=1,2 tracking=server": "tracking=server needs tracking.uri",
    "seed=1,2 tracking=server tracking.uri=there": "tracking.uri=there is not an address; allowed:",
}


@pytest.mark.parametrize("typed", SWEEPS)
def test_a_sweep_without_a_place_is_refused(
    typed: str, outputs: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MLFLOW_TRACKING_URI", "DASK_SCHEDULER_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    assert refused("run", "-m", "study=ridge_path", *typed.split()).startswith(SWEEPS[typed])
    assert not list(outputs.iterdir())


def test_several_values_without_a_sweep_are_refused(
    outputs: Path, refused: Callable[..., str]
) -> None:
    line = refused("run", "study=ridge_path,polynomial_order")
    assert line.startswith("'study=ridge_path,polynomial_order' has several values")
    assert not list(outputs.iterdir())


def test_a_configuration_is_shown_without_the_password_in_an_address(
    outputs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://somebody:secret@there:5000")
    shown = ["run", "study=polynomial_order", "tracking=server", "--cfg", "job", "--resolve"]
    assert main(shown) == 0
    told = capsys.readouterr().out
    assert "http://***@there:5000" in told
    assert "secret" not in told
