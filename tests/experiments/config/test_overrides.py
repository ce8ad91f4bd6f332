"""The command line of `bythebook run`: flags, overrides, and checks before Hydra."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.cli.main import main
from bythebook.experiments.config.overrides import MAX_OVERRIDE_CHARS, parse_command_line
from bythebook.experiments.core.errors import InputError

Capture = pytest.CaptureFixture[str]


def test_flags_and_overrides_in_any_order() -> None:
    line = parse_command_line(["seed=3", "--cfg", "job", "study=ridge_path", "-m", "--dry-run"])
    assert line.words == ["seed=3", "study=ridge_path"]
    assert [override.key_or_group for override in line.overrides] == ["seed", "study"]
    assert (line.sweep, line.dry_run, line.cfg, line.info) == (True, True, "job", None)


def test_a_flag_may_be_between_overrides(outputs: Path, capsys: Capture) -> None:
    plans = set()
    words = ["study=ridge_path", "seed=1,2", "tracking=off"]
    for index in (0, 1):
        assert main(["run", *words[:index], "-m", *words[index:], "--dry-run"]) == 0
        plans.add(capsys.readouterr().out)
    assert len(plans) == 1
    assert "2 runs" in plans.pop()


def test_the_name_of_a_result_needs_no_key() -> None:
    assert parse_command_line(["fcml/fig-1.15"]).words == ["experiment=fcml/fig-1.15"]


def test_an_address_with_a_password_is_moved_to_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "replaced")
    address = "http://me:secret@host:5000"
    assert "secret" not in " ".join(
        parse_command_line(["study=ridge_path", f"tracking_uri={address}"]).words
    )
    assert os.environ["MLFLOW_TRACKING_URI"] == address
    with pytest.raises(InputError, match=r"outputs=http://\*\*\*@host' contains a password"):
        parse_command_line([f"outputs={address.removesuffix(':5000')}"])


OVERRIDES = {
    "study=1": "there is no study '1'; `bythebook run --help` shows all",
    "experiment=": "there is no result ''; `bythebook list` shows all",
    "experiment": "'experiment' is not a setting; allowed: <name>=<value>",
    "=1": "'=1' has no name; allowed: <name>=<value>",
    f"seed={'9' * 5000}": "'seed=99999999999999999999999999999999999...' has more than 300 digits",
    "~foo": "there is no 'foo'; allowed here: tracking, tracking_uri",
    "hydra/launcher=nope": "'hydra/launcher=nope': hydra.* settings are not allowed",
    "--dryrun": "unknown argument '--dryrun' (did you mean '--dry-run'?)",
    "hydra.run.dir=x": "'hydra.run.dir=x': hydra.* settings are not allowed; use outputs=",
    "experiment=[a,b]": "'experiment=[a,b]' is not a single name; allowed: one name, or -m",
    "study=/etc/passwd": "there is no study '/etc/passwd'; allowed: a name, not a path",
    "--config-name=x": "--config-name is not allowed: --config-dir adds files",
    f"seed={'x' * MAX_OVERRIDE_CHARS}": f"'seed={'x' * 35}...' has 100,005 characters",
    "seed=\0": r"'seed=\x00' is not text in UTF-8",
}


@pytest.mark.parametrize("typed", OVERRIDES)
def test_overrides(typed: str, outputs: Path, refused: Callable[..., str]) -> None:
    assert refused("run", "study=ridge_path", typed).startswith(OVERRIDES[typed])
    assert not list(outputs.iterdir())


def test_a_parameter_without_its_prefix_gives_a_suggestion(refused: Callable[..., str]) -> None:
    line = refused("run", "study=polynomial_order", "holdout_from=1980")
    assert "there is no 'holdout_from' (did you mean 'study.holdout_from'?)" in line


@given(st.lists(st.text(max_size=30), max_size=4))
def test_any_arguments_are_parsed_or_refused(words: list[str]) -> None:
    """No argument leads to a traceback."""
    with suppress(InputError):
        line = parse_command_line(words)
        assert len(line.words) == len(line.overrides) <= len(words)
