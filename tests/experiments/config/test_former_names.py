"""Former names of settings, flags and variables: refused with a line that gives the present one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bythebook.experiments.config import former_names
from bythebook.experiments.config.former_names import SETTINGS, present_name

RUN = ["run", "study=polynomial_order"]
FLAGS = {
    "--fresh": (["reproduce", "fcml/fig-1.15", "--fresh"], "--force"),
    "--seconds": (["explore", "--seconds", "3"], "--timeout"),
    "--data": (["list", "--data", "x"], "--data-dir"),
}


@pytest.mark.parametrize("prefix", ["", "+"])
@pytest.mark.parametrize("key", SETTINGS)
def test_a_former_setting_gives_the_present_one(
    key: str, prefix: str, outputs: Path, refused: Callable[..., str]
) -> None:
    assert refused(*RUN, f"{prefix}{key}=1") == f"'{key}' is called '{SETTINGS[key]}' now"
    assert not list(outputs.iterdir())


def test_a_former_setting_is_refused_with_a_result_and_in_a_sweep(
    outputs: Path, refused: Callable[..., str]
) -> None:
    line = "'fresh' is called 'force' now"
    assert refused("run", "fcml/fig-1.15", "fresh=true") == line
    assert refused("run", "-m", "fcml/fig-1.15", "seed=0,1", "fresh=true") == line
    assert not list(outputs.iterdir())


@pytest.mark.parametrize(
    ("key", "present"),
    [
        ("launch.workers", "launcher.workers"),
        ("launch.options.slurm_partition", "launcher.options.slurm_partition"),
        ("limit.memory_gb", "limits.memory_gb"),
    ],
)
def test_a_key_of_a_former_group_keeps_its_name(
    key: str, present: str, refused: Callable[..., str]
) -> None:
    assert refused(*RUN, f"{key}=1") == f"'{key}' is called '{present}' now"


@pytest.mark.parametrize(
    "key", ["force", "max_cells", "launcher.workers", "limits.timeout", "tracking", "data_dir"]
)
def test_a_present_name_is_not_a_former_one(key: str) -> None:
    assert present_name(key) is None


@pytest.mark.parametrize("flag", FLAGS)
def test_a_former_flag_gives_the_present_one(
    flag: str, outputs: Path, refused: Callable[..., str]
) -> None:
    command, present = FLAGS[flag]
    assert refused(*command) == f"{flag} is called {present} now"
    assert not list(outputs.iterdir())


def test_every_former_flag_is_tested() -> None:
    assert FLAGS.keys() == former_names.FLAGS.keys()


@pytest.mark.parametrize(
    "command",
    [["run", "fcml/fig-1.15"], ["run", "fcml/fig-1.15", "seed=1"], ["reproduce", "fcml/fig-1.15"]],
)
def test_the_former_variable_gives_the_present_one(
    command: list[str],
    outputs: Path,
    refused: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BOOK_DATA", "/a/folder")
    assert refused(*command) == "the variable BOOK_DATA is called BYTHEBOOK_DATA now"
    assert not list(outputs.iterdir())


def test_the_present_variable_has_precedence(
    outputs: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOOK_DATA", "/former")
    monkeypatch.setenv("BYTHEBOOK_DATA", "/present/missing")
    assert "/present/missing" in refused("run", "fcml/fig-1.15")
    assert not list(outputs.iterdir())
