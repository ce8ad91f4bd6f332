"""Hydra's part: files and overrides become one checked configuration, and nothing else happens."""

from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.configuration import catalogue
from experiments.configuration.build import experiment_job
from experiments.configuration.compose import _meant, composer, parsed
from experiments.contract.errors import BadInput

NAMES = catalogue.names()
HEAD = "# @package _global_\ndefaults:\n  - override /study: ridge_path\n"


def test_reading_the_files_gives_what_hydra_composes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BOOK_DATA", raising=False)
    one_a_study = list({catalogue.read(name).study: name for name in NAMES}.values())
    chosen = one_a_study[::3]  # Hydra takes its time
    with composer([], []) as compose:
        for name in chosen:
            composed = compose([f"experiment={name}"]).template.job()
            assert composed == experiment_job(name), name
            assert composed.key == experiment_job(name).key  # 2 and 2.0 are equal, not in a record


@pytest.mark.parametrize(
    ("overrides", "meant"),
    [
        (["study=polynomial_order", "seed=1"], {"polynomial_order"}),
        (["+study=polynomial_order", "study.heads=1,2"], {"polynomial_order"}),
        (["study=polynomial_order,ridge_path"], {"polynomial_order", "ridge_path"}),
        (["experiment=fcml/fig-1.15"], {"polynomial_order"}),
        (["experiment=fcml/fig-1.15", "study=ridge_path"], {"polynomial_order", "ridge_path"}),
        (["experiment=glob(*)"], set()),
        (["study=coin_gam"], set()),
        (["study=choice(polynomial_order,ridge_path)"], {"polynomial_order", "ridge_path"}),
        (["experiment=mine/first"], set()),
        (["seed=1"], set()),
    ],
)
def test_only_the_studies_that_a_command_line_speaks_of_are_loaded(
    overrides: list[str], meant: set[str]
) -> None:
    assert _meant(parsed(overrides)) == meant


def test_the_command_line_beats_the_file_and_the_file_the_defaults() -> None:
    words = ["experiment=fcml/fig-1.15", "study.folds=3", "jobs=2", "tracking=off"]
    with composer(parsed(words), []) as compose:
        composed = compose(words)
    job, stated = composed.template.job(), experiment_job("fcml/fig-1.15")
    assert job.study.folds == 3  # type: ignore[attr-defined]
    assert job.study.orders == stated.study.orders  # type: ignore[attr-defined]
    assert (composed.settings.jobs, composed.settings.tracking.kind) == (2, "off")


def test_the_environment_fills_settings_and_no_science(monkeypatch: pytest.MonkeyPatch) -> None:
    """And of the settings those that our own files leave to it; a command line has its shell."""
    monkeypatch.setenv("A_FOLDER", "/a/folder")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://there")
    words = ["study=ridge_path", "tracking=server"]
    with composer(parsed(words), []) as compose:
        assert compose(words).settings.tracking.uri == "http://there"
        for key in (
            "source.title",
            "seed",
            "outputs",
            "data.dir",
            "tracking.uri",
            "launch.address",
        ):
            with pytest.raises(BadInput, match=f"{key.partition('.')[0]} calls a resolver"):
                compose(["study=ridge_path", f"{key}=${{oc.env:A_FOLDER}}"])


OVERRIDES = {
    "~seed": "~seed takes out what every run needs",
    "+extra=1": "there is no 'extra'",
    "+_target_=os.system": "_target_ names something to import: not allowed",
    "launch=dask launch.address=here": "launch.address=here is not an address",
    "launch=dask limit.seconds=1": "limit.seconds: Dask runs a study in a thread",
    "--config-dir=/nowhere": "--config-dir /nowhere is not a folder",
}


@pytest.mark.parametrize("typed", OVERRIDES)
def test_overrides(typed: str, outputs: Path, refused: Callable[..., str]) -> None:
    assert refused("run", "study=ridge_path", *typed.split()).startswith(OVERRIDES[typed])
    assert not list(outputs.iterdir())


FILES = {
    HEAD + "claims:\n  - {metrc: x, says: a}\n": "there is no 'claims.metrc'; allowed",
    HEAD + "claims:\n  - {value: x, within: a, says: a}\n": "claims.within=a is not allowed",
    HEAD + "source: {bok: fcml}\n": "there is no 'source.bok' (did you mean 'book'?)",
    HEAD + "study: {lamda: 1}\n": "there is no 'study.lamda' (did you mean 'lambdas'?)",
    HEAD + "study: {orders: [a]}\n": 'study.orders=["a"]: a is not allowed',
    HEAD + "claim: []\n": "there is no 'claim' (did you mean 'claims'?); allowed here: study",
    HEAD + "hydra: {job: {env_set: {PATH: x}}}\n": "there is no 'hydra'; allowed here: study",
    HEAD + "launch: {options: {local_setup: [ls]}}\n": "there is no 'launch'; allowed here: study",
    HEAD + "outputs: /tmp\n": "there is no 'outputs'; allowed here: study",
}
SHAPES = {
    "": "experiment/mine/first: first.yaml does not begin with `# @package _global_`",
    HEAD.partition("\n")[2]: "experiment/mine/first: first.yaml does not begin with `# @package",
    "\xff": "experiment/mine/first: first.yaml is not text in UTF-8",
}


@pytest.mark.parametrize("text", [*FILES, *SHAPES])
def test_files(text: str, outputs: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    file = tmp_path / "experiment" / "mine" / "first.yaml"
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode("latin-1"))
    line = refused("run", "--config-dir", str(tmp_path), "experiment=mine/first")
    wanted = f"experiment/mine/first: {FILES[text]}" if text in FILES else SHAPES[text]
    assert line.startswith(wanted)
    assert not list(outputs.iterdir())


def test_of_the_users_folders_only_experiments_are_read(
    outputs: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    """Hydra would take a study, a tracking store or a schema from any of its folders."""
    evil = "# @package _global_\noutputs: /nowhere\nseed: 99\njobs: 7\n"
    places = ("study/ridge_path", "tracking/off", "launch/local", "config", "schema", "tracking/x")
    for place in places:
        path = tmp_path / "conf" / f"{place}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(evil)
    first = tmp_path / "conf" / "experiment" / "mine" / "first.yaml"
    first.parent.mkdir(parents=True)
    first.write_text(HEAD + "seed: 5\n")
    words = ["experiment=mine/first", "tracking=off"]
    folders = [str(tmp_path / "conf")]
    with composer(parsed(words), folders) as compose:
        composed = compose(words)
    assert composed.template.job().seed == 5
    assert (composed.settings.outputs, composed.settings.jobs) == (None, 1)
    assert refused("run", "--config-dir", *folders, "study=ridge_path", "tracking=x").startswith(
        "there is no tracking 'x'"
    )


def test_a_glob_finds_the_users_experiments(tmp_path: Path) -> None:
    for name in ("first", "second"):
        path = tmp_path / "experiment" / f"my-{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD)
    with composer([], [str(tmp_path)]):
        (found,) = parsed(["experiment=glob(my-*)"])
        assert list(found.sweep_string_iterator()) == ["my-first", "my-second"]
    with composer([], []):
        assert list(parsed(["experiment=glob(my-*)"])[0].sweep_string_iterator()) == []


def test_a_group_without_a_name_is_refused() -> None:
    with composer([], []) as compose, pytest.raises(BadInput, match=r"^\+@x=: not understood"):
        compose(["+@x="])
