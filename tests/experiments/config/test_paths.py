"""The outputs folder: configured, from the environment, of the project, or here."""

from pathlib import Path

import pytest

from bythebook.experiments.config import paths
from bythebook.experiments.config.paths import OUTPUTS_ENV, ensure_writable, resolve_output_dir
from bythebook.experiments.core.errors import InputError


def test_the_configured_folder_has_precedence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(OUTPUTS_ENV, str(tmp_path / "environment"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert resolve_output_dir(str(tmp_path / "given")) == tmp_path / "given"
    assert resolve_output_dir("~/mine") == tmp_path / "mine"
    assert resolve_output_dir() == tmp_path / "environment"
    monkeypatch.chdir(tmp_path)
    assert resolve_output_dir("here") == tmp_path / "here"


def test_the_checkout_of_the_current_folder_precedes_the_installed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(OUTPUTS_ENV, raising=False)
    inside = tmp_path / "project" / "docs"
    inside.mkdir(parents=True)
    (tmp_path / "project" / "conf").mkdir()
    for name in ("pyproject.toml", "conf/config.yaml"):
        (tmp_path / "project" / name).touch()
    monkeypatch.chdir(inside)
    assert resolve_output_dir() == tmp_path / "project" / "outputs"
    monkeypatch.chdir(tmp_path)
    assert resolve_output_dir() == Path(paths.__file__).parents[3] / "outputs"
    monkeypatch.setattr(paths, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    assert resolve_output_dir() == tmp_path / "outputs"


def test_a_folder_is_created_and_left_empty(tmp_path: Path) -> None:
    folder = ensure_writable(tmp_path / "a" / "b")
    assert folder.is_dir()
    assert not list(folder.iterdir())
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=f"cannot write to the outputs folder .*{OUTPUTS_ENV}"):
        ensure_writable(tmp_path / "file" / "below")


def test_a_link_that_points_outside_is_refused(tmp_path: Path) -> None:
    outputs, elsewhere = tmp_path / "outputs", tmp_path / "elsewhere"
    elsewhere.mkdir()
    ensure_writable(outputs, "tables", "fcml/fig-1.1")
    assert (outputs / "tables" / "fcml" / "fig-1.1").is_dir()
    (outputs / "tables" / "prml").symlink_to(elsewhere)
    for below in (["prml"], ["prml/fig-1.1"], ["prml", "fig-1.1", "deeper"]):
        with pytest.raises(InputError, match="prml is a symbolic link that points outside"):
            ensure_writable(outputs, "tables", *below)
    assert not list(elsewhere.iterdir())
    (outputs / "figures").symlink_to(elsewhere)  # at the top level
    with pytest.raises(InputError, match="figures is a symbolic link that points outside"):
        ensure_writable(outputs)


def test_the_outputs_folder_may_be_a_link_and_have_links_within_it(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    outputs = tmp_path / "outputs"
    outputs.symlink_to(tmp_path / "disk")
    (outputs / "large").mkdir()
    (outputs / "tables").symlink_to(outputs / "large")
    assert ensure_writable(outputs, "tables", "x").is_dir()
    assert (tmp_path / "disk" / "large" / "x").is_dir()
