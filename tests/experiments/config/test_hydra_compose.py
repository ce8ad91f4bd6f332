"""Composition with Hydra: files and overrides give one validated configuration."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.hydra_compose import (
    _referenced_studies,
    hydra_composer,
    parse_overrides,
)
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.errors import InputError

NAMES = catalogue.experiment_names()
HEAD = "# @package _global_\ndefaults:\n  - override /study: ridge_path\n"


def test_reading_the_files_gives_what_hydra_composes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BYTHEBOOK_DATA", raising=False)
    one_a_study = list({catalogue.load_experiment(name).study: name for name in NAMES}.values())
    chosen = one_a_study[::3]  # Hydra is slow
    with hydra_composer([], []) as compose:
        for name in chosen:
            composed = compose([f"experiment={name}"]).job_factory.job()
            assert composed == load_job(name), name
            assert composed.key == load_job(name).key  # 2 and 2.0 are equal, not in a record


@pytest.mark.parametrize(
    ("overrides", "expected"),
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
def test_only_the_studies_of_the_overrides_are_loaded(
    overrides: list[str], expected: set[str]
) -> None:
    assert _referenced_studies(parse_overrides(overrides)) == expected


def test_the_command_line_overrides_the_file_and_the_file_the_defaults() -> None:
    words = ["experiment=fcml/fig-1.15", "study.folds=[3]", "jobs=2", "tracking=off"]
    with hydra_composer(parse_overrides(words), []) as compose:
        composed = compose(words)
    job, canonical = composed.job_factory.job(), load_job("fcml/fig-1.15")
    assert job.study.folds == [3]  # type: ignore[attr-defined]
    assert job.study.orders == canonical.study.orders  # type: ignore[attr-defined]
    assert (composed.settings.jobs, composed.settings.tracking) == (2, "off")


def test_the_environment_sets_some_settings_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that conf/ takes from the environment; overrides cannot refer to it."""
    monkeypatch.setenv("A_FOLDER", "/a/folder")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://there")
    words = ["study=ridge_path", "tracking=server"]
    with hydra_composer(parse_overrides(words), []) as compose:
        assert compose(words).settings.tracking_uri == "http://there"
        for key in (
            "source.title",
            "seed",
            "outputs",
            "data_dir",
            "tracking_uri",
            "launcher.address",
        ):
            with pytest.raises(InputError, match=rf"{key.partition('.')[0]}.*: interpolation"):
                compose(["study=ridge_path", f"{key}=${{oc.env:A_FOLDER}}"])


OVERRIDES = {
    "~seed": "~seed: a required setting cannot be removed",
    "+extra=1": "there is no 'extra'",
    "+_target_=os.system": "_target_ is not allowed in a configuration",
    "launcher=dask launcher.address=here": "launcher.address=here is not an address",
    "launcher=dask limits.timeout=1": "limits.timeout cannot be enforced by Dask",
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
    HEAD + "launcher: {options: {local_setup: [ls]}}\n": "there is no 'launcher'; allowed here",
    HEAD + "outputs: /tmp\n": "there is no 'outputs'; allowed here: study",
    HEAD + "figures: [pth]\n": "figures: study ridge_path has no figure 'pth' (did you mean 'path'",
    HEAD
    + "figures: {curves: [a]}\n": "figures: curves: penalties='a' is not allowed; allowed: cur",
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


def test_only_experiments_are_read_from_the_users_folders(
    outputs: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    """Hydra itself would read a study, a launcher or a schema from any of its folders."""
    evil = "# @package _global_\noutputs: /nowhere\nseed: 99\njobs: 7\n"
    names = ("study/ridge_path", "launcher/local", "config", "schema", "launcher/x")
    for name in names:
        path = tmp_path / "conf" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(evil)
    first = tmp_path / "conf" / "experiment" / "mine" / "first.yaml"
    first.parent.mkdir(parents=True)
    first.write_text(HEAD + "seed: 5\n")
    words = ["experiment=mine/first", "tracking=off"]
    folders = [str(tmp_path / "conf")]
    with hydra_composer(parse_overrides(words), folders) as compose:
        composed = compose(words)
    assert composed.job_factory.job().seed == 5
    assert (composed.settings.outputs, composed.settings.jobs) == (None, 1)
    assert refused("run", "--config-dir", *folders, "study=ridge_path", "launcher=x").startswith(
        "there is no launcher 'x'"
    )


@pytest.mark.parametrize(
    ("word", "expected", "are_drawn"),
    [
        ("seed=0", {"curves": [0.0, 1.0], "path": []}, True),
        ("figures=false", {"curves": [0.0, 1.0], "path": []}, False),
    ],
)
def test_a_file_names_figures_and_the_command_line_whether_they_are_drawn(
    word: str, expected: object, are_drawn: bool, tmp_path: Path
) -> None:
    path = tmp_path / "experiment" / "mine.yaml"
    path.parent.mkdir()
    path.write_text(HEAD + "figures: {curves: [0.0, 1.0], path: []}\n")
    words = ["experiment=mine", word]
    with hydra_composer(parse_overrides(words), [str(tmp_path)]) as compose:
        composed = compose(words)
    assert composed.job_factory.published.figures == expected
    assert composed.settings.figures is are_drawn


def test_a_glob_matches_the_users_experiments(tmp_path: Path) -> None:
    for name in ("first", "second"):
        path = tmp_path / "experiment" / f"my-{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD)
    with hydra_composer([], [str(tmp_path)]):
        (found,) = parse_overrides(["experiment=glob(my-*)"])
        assert list(found.sweep_string_iterator()) == ["my-first", "my-second"]
    with hydra_composer([], []):
        assert list(parse_overrides(["experiment=glob(my-*)"])[0].sweep_string_iterator()) == []


def test_a_group_without_a_name_is_refused() -> None:
    with (
        hydra_composer([], []) as compose,
        pytest.raises(InputError, match=r"^\+@x=: invalid override; allowed: <name>=<value>"),
    ):
        compose(["+@x="])
