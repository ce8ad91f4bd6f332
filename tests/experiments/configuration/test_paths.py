"""Where things are written: stated, by the environment, in the project, or here."""

from pathlib import Path

import pytest

from experiments.configuration import paths
from experiments.configuration.paths import VARIABLE, outputs_folder, writable
from experiments.contract.errors import BadInput


def test_what_is_stated_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "environment"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert outputs_folder(str(tmp_path / "stated")) == tmp_path / "stated"
    assert outputs_folder("~/mine") == tmp_path / "mine"
    assert outputs_folder() == tmp_path / "environment"
    monkeypatch.chdir(tmp_path)
    assert outputs_folder("here") == tmp_path / "here"


def test_the_project_that_one_stands_in_comes_before_the_installed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    inside = tmp_path / "project" / "docs"
    inside.mkdir(parents=True)
    (tmp_path / "project" / "conf").mkdir()
    for name in ("pyproject.toml", "conf/config.yaml"):
        (tmp_path / "project" / name).touch()
    monkeypatch.chdir(inside)
    assert outputs_folder() == tmp_path / "project" / "outputs"
    monkeypatch.chdir(tmp_path)
    assert outputs_folder() == Path(paths.__file__).parents[3] / "outputs"
    monkeypatch.setattr(paths, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    assert outputs_folder() == tmp_path / "outputs"


def test_a_folder_is_made_and_nothing_left_in_it(tmp_path: Path) -> None:
    folder = writable(tmp_path / "a" / "b")
    assert folder.is_dir()
    assert not list(folder.iterdir())
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match=f"cannot write to the outputs folder .*{VARIABLE}"):
        writable(tmp_path / "file" / "below")


def test_a_link_that_leads_out_is_refused_and_nothing_made_behind_it(tmp_path: Path) -> None:
    outputs, elsewhere = tmp_path / "outputs", tmp_path / "elsewhere"
    elsewhere.mkdir()
    writable(outputs, "tables", "fcml/fig-1.1")
    assert (outputs / "tables" / "fcml" / "fig-1.1").is_dir()
    (outputs / "tables" / "prml").symlink_to(elsewhere)
    for below in (["prml"], ["prml/fig-1.1"], ["prml", "fig-1.1", "deeper"]):
        with pytest.raises(BadInput, match="prml is a link that leads out of the outputs folder"):
            writable(outputs, "tables", *below)
    assert not list(elsewhere.iterdir())
    (outputs / "figures").symlink_to(elsewhere)  # at the top, whatever is to be written
    with pytest.raises(BadInput, match="figures is a link that leads out"):
        writable(outputs)


def test_links_of_the_outputs_folder_itself_and_within_it_are_followed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    outputs = tmp_path / "outputs"
    outputs.symlink_to(tmp_path / "disk")
    (outputs / "large").mkdir()
    (outputs / "tables").symlink_to(outputs / "large")
    assert writable(outputs, "tables", "x").is_dir()
    assert (tmp_path / "disk" / "large" / "x").is_dir()
